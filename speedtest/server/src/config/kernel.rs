// SPDX-License-Identifier: Apache-2.0
//! Congestion controls and rights that this kernel offers.

use super::ConfigError;

/// Congestion controls and rights that this kernel offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kernel {
    pub congestion: Vec<String>,
}

impl Kernel {
    /// Read the loaded congestion controls, or only those that need no privileges.
    pub fn of_this_host(privileged: bool) -> Kernel {
        let which = if privileged { "available" } else { "allowed" };
        let path = format!("/proc/sys/net/ipv4/tcp_{which}_congestion_control");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        Kernel { congestion: text.split_whitespace().map(str::to_owned).collect() }
    }

    pub fn has_congestion(&self, name: &str) -> bool {
        self.congestion.iter().any(|known| known == name)
    }

    pub(super) fn check_congestion(
        &self,
        place: &str,
        name: Option<&str>,
    ) -> Result<(), ConfigError> {
        let Some(name) = name.filter(|name| !self.has_congestion(name)) else { return Ok(()) };
        Err(ConfigError {
            place: place.to_owned(),
            fault: format!(
                "{name:?} is not allowed; this kernel offers this user {}",
                self.congestion.join(", ")
            ),
        })
    }
}
