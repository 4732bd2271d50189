// SPDX-License-Identifier: Apache-2.0
//! Addresses of HTTP and HTTPS, and ndt7 on all of them.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

use super::ConfigError;

/// One address that speaks HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    #[serde(deserialize_with = "super::listen::deserialize")]
    pub listen: SocketAddr,
    /// Connections begin with the PROXY protocol, from trusted proxies only.
    #[serde(default)]
    pub proxy_protocol: bool,
}

impl Http {
    pub fn at(listen: SocketAddr) -> Http {
        Http { listen, proxy_protocol: false }
    }
}

/// The certificate of all HTTPS addresses. Both files are loaded again when one of them changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// Certificate chain in PEM, the server's own first.
    pub cert: Option<PathBuf>,
    /// Its private key in PEM.
    pub key: Option<PathBuf>,
}

impl Tls {
    /// Check that HTTPS has both files.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        required("tls.cert", &self.cert)?;
        required("tls.key", &self.key)
    }
}

fn required(place: &str, file: &Option<PathBuf>) -> Result<(), ConfigError> {
    if file.is_some() {
        return Ok(());
    }
    let fault = "not set; HTTPS needs a certificate and its key, as files in PEM".into();
    Err(ConfigError { place: place.to_owned(), fault })
}

/// The ndt7 protocol, on every HTTP address.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ndt7 {
    /// For tests that do not ask for one; the kernel's default when unset.
    pub congestion: Option<String>,
    /// Public JSON web keys, a file each, that sign access tokens. A given token must be valid.
    pub token_keys: Vec<PathBuf>,
    pub token_issuer: String,
    /// This server's name in the tokens.
    pub token_audience: Option<String>,
    /// Clients without a token are refused.
    pub token_required: bool,
}

impl Default for Ndt7 {
    fn default() -> Ndt7 {
        Ndt7 {
            congestion: None,
            token_keys: Vec::new(),
            token_issuer: "locate".into(),
            token_audience: None,
            token_required: false,
        }
    }
}
