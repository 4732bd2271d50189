// SPDX-License-Identifier: Apache-2.0
//! Endpoints of a responsiveness test (draft-ietf-ippm-responsiveness) and their URLs.

use serde::Deserialize;
use serde_json::{json, Value};

/// Path of the configuration, which names the other URLs.
pub const WELL_KNOWN: &str = "/.well-known/nq";

/// Bytes of a large body: more than a 100 Gbit/s link carries in a test. The draft requires at
/// least 8 GB.
const LARGE_BYTES: u64 = 256 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    Config,
    /// Answer of one byte.
    Small,
    /// Answer of more bytes than a test can take.
    Large(u64),
    Upload,
}

/// Return the endpoint of this path.
pub fn endpoint(path: &str) -> Option<Endpoint> {
    Some(match path {
        WELL_KNOWN => Endpoint::Config,
        "/nq/small" => Endpoint::Small,
        "/nq/large" => Endpoint::Large(LARGE_BYTES),
        "/nq/upload" => Endpoint::Upload,
        _ => return None,
    })
}

/// Return the configuration for clients that used this scheme and this host, which may have a port.
/// It has both spellings of the keys: the draft's and the older one.
pub fn config(scheme: &str, host: &str) -> Value {
    let url = |name: &str| format!("{scheme}://{host}/nq/{name}");
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        // The colons of a bare IPv6 address are no port; a host field has it in brackets.
        if port.bytes().all(|byte| byte.is_ascii_digit()) {
            name
        } else {
            host
        }
    });
    json!({
        "version": 1,
        "urls": {
            "small_download_url": url("small"),
            "large_download_url": url("large"),
            "upload_url": url("upload"),
            "small_https_download_url": url("small"),
            "large_https_download_url": url("large"),
            "https_upload_url": url("upload"),
        },
        "test_endpoint": name,
    })
}

/// URLs of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Urls {
    pub small: String,
    pub large: String,
    pub upload: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("the configuration is not JSON as the draft has it: {0}")]
    Json(String),
    #[error("the configuration has no {0}")]
    Missing(&'static str),
}

#[derive(Deserialize)]
struct Config {
    urls: Keys,
}

/// Keys in two spellings, the draft's and the older one.
#[derive(Deserialize)]
struct Keys {
    small_download_url: Option<String>,
    large_download_url: Option<String>,
    upload_url: Option<String>,
    small_https_download_url: Option<String>,
    large_https_download_url: Option<String>,
    https_upload_url: Option<String>,
}

impl Urls {
    /// Read a configuration in either spelling; the draft's has priority.
    pub fn of_config(text: &str) -> Result<Urls, ConfigError> {
        let config: Config =
            serde_json::from_str(text).map_err(|error| ConfigError::Json(error.to_string()))?;
        let urls = config.urls;
        let either = |new: Option<String>, old: Option<String>, name| {
            new.or(old).ok_or(ConfigError::Missing(name))
        };
        Ok(Urls {
            small: either(
                urls.small_download_url,
                urls.small_https_download_url,
                "small_download_url",
            )?,
            large: either(
                urls.large_download_url,
                urls.large_https_download_url,
                "large_download_url",
            )?,
            upload: either(urls.upload_url, urls.https_upload_url, "upload_url")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_reads_either_spelling_and_names_what_is_missing() {
        let own = Urls::of_config(&config("https", "a").to_string()).unwrap();
        assert_eq!(own.upload, "https://a/nq/upload");
        let old = r#"{"version":1,"urls":{"small_https_download_url":"https://b/s",
            "large_https_download_url":"https://b/l","https_upload_url":"https://b/u"}}"#;
        let urls = Urls::of_config(old).unwrap();
        assert_eq!(
            [&*urls.small, &urls.large, &urls.upload].map(|url| &url[9..]),
            ["/s", "/l", "/u"]
        );
        let half = old.replace("large_https", "huge");
        assert_eq!(Urls::of_config(&half), Err(ConfigError::Missing("large_download_url")));
        assert!(matches!(Urls::of_config("no"), Err(ConfigError::Json(_))));
    }

    #[test]
    fn both_spellings_lead_to_the_same_place() {
        let config = config("https", "speed.example:8443");
        let urls = &config["urls"];
        assert_eq!(urls["large_download_url"], "https://speed.example:8443/nq/large");
        assert_eq!(urls["upload_url"], urls["https_upload_url"]);
        assert_eq!(urls["small_download_url"], urls["small_https_download_url"]);
        assert_eq!(config["test_endpoint"], "speed.example");
        assert!(matches!(endpoint("/nq/large"), Some(Endpoint::Large(bytes)) if bytes >= 8 << 30));
    }

    #[test]
    fn an_address_in_brackets_keeps_them() {
        assert_eq!(config("https", "[::1]:8443")["test_endpoint"], "[::1]");
        assert_eq!(config("https", "[2001:db8::1]")["test_endpoint"], "[2001:db8::1]");
    }
}
