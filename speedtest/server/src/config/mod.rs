// SPDX-License-Identifier: Apache-2.0
//! Settings of the operator. All defaults are here; an error gives the place, the problem and the
//! allowed values.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

mod cors;
mod http;
mod iperf3;
mod kernel;
mod limits;
mod listen;
mod network;
mod proxies;
pub mod range;
mod results;

pub use cors::Cors;
pub use http::{Http, Ndt7, Tls};
pub use iperf3::{default_skew_s, AuthFiles, Iperf3, Padding};
pub use kernel::Kernel;
pub use limits::{Limits, Prefixes};
pub use listen::listen_address;
pub use network::Network;
pub use proxies::Proxies;
pub use results::{read_url, ResultsTo};

/// Everything, as in the TOML file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub server: Server,
    pub iperf3: Vec<Iperf3>,
    pub http: Vec<Http>,
    pub https: Vec<Http>,
    pub tls: Tls,
    pub cors: Cors,
    pub proxies: Proxies,
    pub metrics: Vec<Http>,
    pub ndt7: Ndt7,
    pub results: ResultsTo,
    pub limits: Limits,
    pub log: Log,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// Event loops; 0 is one for each core.
    pub loops: usize,
    /// Seconds that running tests get to finish after SIGTERM.
    pub drain_s: u64,
    /// Milliseconds between two samples of TCP_INFO.
    pub sample_ms: u64,
    /// Started as root, the server goes on as this user once its addresses are bound.
    pub user: Option<String>,
    /// Bits per second that the host's link carries; 0: not known.
    pub link_bps: u64,
    /// What pages call this server; the host's name when unset.
    pub name: Option<String>,
}

impl Default for Server {
    fn default() -> Server {
        Server { loops: 0, drain_s: 30, sample_ms: 200, user: None, link_bps: 0, name: None }
    }
}

impl Server {
    pub fn sample_every(&self) -> Duration {
        Duration::from_millis(self.sample_ms)
    }

    pub fn link_bps(&self) -> Option<u64> {
        Some(self.link_bps).filter(|link_bps| *link_bps > 0)
    }

    pub fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_s)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    pub format: LogFormat,
}

/// Error in the operator's settings: place, problem and allowed values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct ConfigError {
    pub place: String,
    pub fault: String,
}

impl Config {
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        let place = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError { place: place.clone(), fault: error.to_string() })?;
        toml::from_str(&text)
            .map_err(|error| ConfigError { place, fault: in_words(&error.to_string()) })
    }

    /// Fill in defaults that depend on the whole: without any listener, serve on loopback.
    pub fn with_default_listeners(mut self) -> Config {
        if self.addresses().is_empty() {
            self.iperf3.push(Iperf3::at(SocketAddr::from(([127, 0, 0, 1], 5201))));
            self.http.push(Http::at(SocketAddr::from(([127, 0, 0, 1], 8080))));
        }
        self
    }

    /// Return every address to listen on, with the name of its section.
    fn addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        let iperf3 = self.iperf3.iter().map(|it| ("iperf3", it.listen));
        let http = self.http.iter().map(|it| ("http", it.listen));
        let https = self.https.iter().map(|it| ("https", it.listen));
        let metrics = self.metrics.iter().map(|it| ("metrics", it.listen));
        iperf3.chain(http).chain(https).chain(metrics).collect()
    }

    /// Return settings without effect, because their subject is not configured.
    pub fn without_effect(&self) -> Vec<ConfigError> {
        let tls = self.tls.cert.is_some() || self.tls.key.is_some();
        let forgets = self.results.keep_addresses_days.is_some();
        let idle = [
            (tls && self.https.is_empty(), "tls", "no address is served over TLS: add [[https]]"),
            (
                forgets && !self.results.wanted(),
                "results.keep_addresses_days",
                "no results are kept: add jsonl, sqlite or postgresql",
            ),
            (
                self.results.max_bytes.is_some() && !self.results.wanted(),
                "results.max_bytes",
                "no results are kept: add jsonl, sqlite or postgresql",
            ),
        ];
        let idle = idle.into_iter().filter(|(idle, ..)| *idle);
        idle.map(|(_, place, fault)| ConfigError { place: place.into(), fault: fault.into() })
            .collect()
    }

    /// Check that PROXY protocol has a trusted proxy; otherwise nobody could connect.
    fn check_proxied(&self) -> Result<(), ConfigError> {
        let iperf3 = self.iperf3.iter().any(|it| it.proxy_protocol).then_some("iperf3");
        let of = |all: &[Http], name| all.iter().any(|it| it.proxy_protocol).then_some(name);
        let found = iperf3.or(of(&self.http, "http")).or(of(&self.https, "https"));
        match found.or(of(&self.metrics, "metrics")).filter(|_| self.proxies.trusted.is_empty()) {
            None => Ok(()),
            Some(section) => {
                let fault = "true, but proxies.trusted is empty, so every connection is refused; \
                             add the addresses of the proxies there";
                let place = format!("{section}.proxy_protocol");
                Err(ConfigError { place, fault: fault.into() })
            }
        }
    }

    /// Check that every value is in its range and known to this kernel.
    pub fn check(&self, kernel: &Kernel) -> Result<(), ConfigError> {
        range::check("server.loops", self.server.loops as u64, &range::LOOPS)?;
        range::check("server.drain_s", self.server.drain_s, &range::DRAIN_S)?;
        range::check("server.sample_ms", self.server.sample_ms, &range::SAMPLE_MS)?;
        self.limits.check()?;
        if !self.https.is_empty() {
            self.tls.check()?;
        }
        if let (false, Some(place)) = (self.iperf3.is_empty(), self.limits.single_connection()) {
            let fault = "1 allows no iperf3 test, which has a control connection and a stream; \
                         set 2 or more, or 0 for no limit";
            return Err(ConfigError { place: place.into(), fault: fault.into() });
        }
        self.check_proxied()?;
        listen::check(&self.addresses())?;
        self.cors.check()?;
        kernel.check_congestion("ndt7.congestion", self.ndt7.congestion.as_deref())?;
        self.results.check()?;
        for (index, listen) in self.iperf3.iter().enumerate() {
            listen.check(&format!("iperf3[{index}]"), kernel)?;
        }
        Ok(())
    }
}

/// Convert an error in the file to text without the names of Rust's types.
fn in_words(fault: &str) -> String {
    let number = "expected a whole number without suffix, 0 or more";
    let types = ["expected usize", "expected u64", "expected u32"];
    types.iter().fold(fault.trim_end().to_owned(), |said, name| said.replace(name, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_says_only_what_differs() {
        let config = parse("[[iperf3]]\nlisten = '[::]:5201'\n[limits]\ntests = 4\n").unwrap();
        assert_eq!(config.iperf3[0].listen.port(), 5201);
        assert_eq!(config.limits, Limits { tests: 4, ..Limits::default() });
    }

    #[test]
    fn a_wrong_key_or_value_is_named_with_its_line() {
        let unknown = parse("[limits]\ntest = 4\n").unwrap_err();
        assert!(unknown.contains("line 2") && unknown.contains("tests"), "{unknown}");
        let address = parse("[[iperf3]]\nlisten = '5201'\n").unwrap_err();
        assert!(address.contains("line 2") && address.contains("socket address"), "{address}");
        let format = parse("[log]\nformat = 'xml'\n").unwrap_err();
        assert!(format.contains("text") && format.contains("json"), "{format}");
    }

    #[test]
    fn a_value_out_of_range_is_named_with_the_range() {
        let kernel = Kernel { congestion: vec!["reno".into(), "cubic".into()] };
        let config = parse("[limits]\nstep_s = 0\n").unwrap();
        assert_eq!(
            config.check(&kernel).unwrap_err().to_string(),
            "limits.step_s: 0 is not allowed; allowed are 1 to 3600"
        );
        let config = parse("[[iperf3]]\nlisten = '[::]:5201'\ncongestion = 'vegas'\n").unwrap();
        assert_eq!(
            config.check(&kernel).unwrap_err().to_string(),
            "iperf3[0].congestion: \"vegas\" is not allowed; this kernel offers this user reno, cubic"
        );
        assert_eq!(Config::default().with_default_listeners().check(&kernel), Ok(()));
    }

    #[test]
    fn a_number_is_asked_for_in_words() {
        for text in ["[limits]\ntests = -1\n", "[limits]\nrate_bps = '1G'\n"] {
            let fault = in_words(&parse(text).unwrap_err());
            assert!(fault.contains("line 2") && fault.contains("whole number"), "{fault}");
        }
    }

    #[test]
    fn a_setting_without_effect_is_reported() {
        let idle = "[tls]\ncert = 'c'\nkey = 'k'\n[results]\nkeep_addresses_days = 1\n";
        let places = |text: &str| -> Vec<String> {
            parse(text).unwrap().without_effect().into_iter().map(|it| it.place).collect()
        };
        assert_eq!(places(idle), ["tls", "results.keep_addresses_days"]);
        let used = format!("{idle}jsonl = 'r'\n[[https]]\nlisten = '[::]:1'\n");
        assert!(places(&used).is_empty());
        assert!(places(include_str!("../../../dist/speedtest.toml")).is_empty());
    }
}
