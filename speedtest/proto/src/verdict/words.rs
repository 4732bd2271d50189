// SPDX-License-Identifier: Apache-2.0
//! Figures of the evidence in words.

/// An amount of bytes with a unit in which it is easy to read, such as `27.0 KiB`.
pub(super) fn size(bytes: f64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024.0 {
        return format!("{bytes:.0} bytes");
    }
    let (mut value, mut unit) = (bytes / 1024.0, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Shares of a whole in percent, never more than all of it.
pub(super) fn percent(share: f64) -> f64 {
    (share * 100.0).clamp(0.0, 100.0)
}
