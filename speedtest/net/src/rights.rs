// SPDX-License-Identifier: Apache-2.0
//! Root privileges that this process holds.

use std::io;

/// Return whether any capability is left or could be regained.
pub fn has_capabilities() -> io::Result<bool> {
    let held = ["CapInh", "CapPrm", "CapEff", "CapAmb"].map(capabilities);
    held.into_iter().try_fold(false, |any, set| Ok(any || set? != 0))
}

/// Return whether this process may change the network, such as use a restricted congestion control.
pub fn may_administer_network() -> bool {
    const CAP_NET_ADMIN: u32 = 12;
    capabilities("CapEff").is_ok_and(|held| held >> CAP_NET_ADMIN & 1 == 1)
}

fn capabilities(set: &str) -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(set)?.strip_prefix(':'));
    let value = line.and_then(|value| u64::from_str_radix(value.trim(), 16).ok());
    value.ok_or_else(|| io::Error::other(format!("no {set} in /proc/self/status")))
}
