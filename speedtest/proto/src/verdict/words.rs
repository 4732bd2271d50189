// SPDX-License-Identifier: Apache-2.0
//! Text of amounts and shares in the evidence.

/// Format an amount of bytes with a readable unit, such as `27.0 KiB`.
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

/// Convert a share to percent, at most 100.
pub(super) fn percent(share: f64) -> f64 {
    (share * 100.0).clamp(0.0, 100.0)
}
