// SPDX-License-Identifier: Apache-2.0
//! Pages of other origins (CORS).

use serde::Deserialize;

use super::ConfigError;

/// Pages of other origins that may use this server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cors {
    /// `*` is any origin, for requests with `cors` in their query, as LibreSpeed's clients send them.
    pub origins: Vec<String>,
}

impl Default for Cors {
    fn default() -> Cors {
        Cors { origins: vec!["*".into()] }
    }
}

impl Cors {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let Some(wrong) = self.origins.iter().find(|origin| *origin != "*" && !is_origin(origin))
        else {
            return Ok(());
        };
        Err(ConfigError {
            place: "cors.origins".into(),
            fault: format!(
                "{wrong:?} is not allowed; allowed are \"*\" and SCHEME://HOST[:PORT] without a path"
            ),
        })
    }
}

/// Return whether a browser could send this as `Origin`.
fn is_origin(text: &str) -> bool {
    let Ok(uri) = text.parse::<http::Uri>() else { return false };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return false };
    let port = authority.as_str().strip_prefix(authority.host());
    let has_port = port.and_then(|port| port.strip_prefix(':')?.parse::<u16>().ok()).is_some();
    text == format!("{scheme}://{authority}")
        && !authority.host().is_empty()
        && (port == Some("") || has_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_scheme_a_host_and_a_port() {
        for origin in ["https://a.example", "http://a.example:8080", "http://[::1]:80", "app://x"] {
            assert!(is_origin(origin), "{origin}");
        }
        for origin in [
            "bogus",
            "a.example",
            "https://",
            "https://a.example/",
            "https://a.example/x",
            "https://a:b",
            "https://a:",
            "https://u@a",
            "https://a b",
            "https://a?q",
            "",
        ] {
            assert!(!is_origin(origin), "{origin}");
        }
        let cors = |origin: &str| Cors { origins: vec!["*".into(), origin.into()] };
        assert_eq!(cors("https://a.example").check(), Ok(()));
        let fault = cors("bogus").check().unwrap_err().to_string();
        assert!(fault.contains("cors.origins: \"bogus\""), "{fault}");
    }
}
