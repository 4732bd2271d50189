// SPDX-License-Identifier: Apache-2.0
//! The iperf3 protocol.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

use super::{range, ConfigError, Kernel};

/// One address that speaks the iperf3 protocol.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iperf3 {
    #[serde(deserialize_with = "super::listen::deserialize")]
    pub listen: SocketAddr,
    /// For tests that do not ask for one; the kernel's default when unset.
    #[serde(default)]
    pub congestion: Option<String>,
    /// Send with MSG_ZEROCOPY: pays on a real NIC, costs on loopback and veth.
    #[serde(default)]
    pub zero_copy: bool,
    /// Connections begin with the PROXY protocol, from trusted proxies only; UDP tests are not proxied.
    #[serde(default)]
    pub proxy_protocol: bool,
    /// If set, only these users may test.
    #[serde(default)]
    pub auth: Option<AuthFiles>,
}

/// iperf3's authentication.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthFiles {
    /// Private RSA key in PEM, without a password.
    pub rsa_private_key: PathBuf,
    /// Lines of USER,SHA256.
    pub authorized_users: PathBuf,
    /// How much a client's clock may differ.
    #[serde(default = "default_skew_s")]
    pub time_skew_s: u32,
    #[serde(default)]
    pub padding: Padding,
}

/// Return the default.
pub fn default_skew_s() -> u32 {
    10
}

/// How the client pads what it encrypts. iperf3 before 3.17 has PKCS #1 only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Padding {
    #[default]
    Any,
    Oaep,
    Pkcs1,
}

impl Iperf3 {
    pub fn at(listen: SocketAddr) -> Iperf3 {
        Iperf3 { listen, congestion: None, zero_copy: false, proxy_protocol: false, auth: None }
    }
    pub(super) fn check(&self, place: &str, kernel: &Kernel) -> Result<(), ConfigError> {
        kernel.check_congestion(&format!("{place}.congestion"), self.congestion.as_deref())?;
        let skew_s = self.auth.as_ref().map_or(1, |auth| u64::from(auth.time_skew_s));
        range::check(&format!("{place}.auth.time_skew_s"), skew_s, &range::TIME_SKEW_S)
    }
}
