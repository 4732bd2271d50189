// SPDX-License-Identifier: Apache-2.0
//! What an operator can set. Defaults live here only; an error says where, what, and what is allowed.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use speedtest_proto::fields::ProxyField;

use crate::network::Network;

mod cors;
mod listen;
pub mod range;
mod results;

pub use cors::Cors;
pub use listen::listen_address;
pub use results::ResultsTo;

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
    /// Milliseconds between two looks at TCP_INFO.
    pub sample_ms: u64,
    /// Started as root, the server goes on as this user once its addresses are bound.
    pub user: Option<String>,
}

impl Default for Server {
    fn default() -> Server {
        Server { loops: 0, drain_s: 30, sample_ms: 200, user: None }
    }
}

/// One address that speaks the iperf3 protocol.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Iperf3 {
    #[serde(deserialize_with = "listen::deserialize")]
    pub listen: SocketAddr,
    /// For tests that do not ask for one; the kernel's default when unset.
    #[serde(default)]
    pub congestion: Option<String>,
    /// Send with MSG_ZEROCOPY: pays on a real NIC, costs on loopback and veth.
    #[serde(default)]
    pub zero_copy: bool,
    /// Only these users may test.
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

/// Unless something else is said.
pub fn default_skew_s() -> u32 {
    10
}

/// How the client fills up what it encrypts. iperf3 before 3.17 knows PKCS #1 only.
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
        Iperf3 { listen, congestion: None, zero_copy: false, auth: None }
    }
}

/// One address that speaks HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    #[serde(deserialize_with = "listen::deserialize")]
    pub listen: SocketAddr,
}

/// The proxies in front of this server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Proxies {
    /// Their addresses; what anybody else says about its client is not believed.
    pub trusted: Vec<Network>,
    /// The field in which they name their client.
    pub field: ForwardedField,
}

impl Proxies {
    pub fn are_trusted(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(address))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedField {
    #[default]
    XForwardedFor,
    Forwarded,
}

impl From<ForwardedField> for ProxyField {
    fn from(field: ForwardedField) -> ProxyField {
        match field {
            ForwardedField::XForwardedFor => ProxyField::XForwardedFor,
            ForwardedField::Forwarded => ProxyField::Forwarded,
        }
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

/// The ndt7 protocol, on every HTTP address.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ndt7 {
    /// For tests that do not ask for one; the kernel's default when unset.
    pub congestion: Option<String>,
    /// Public JSON web keys, a file each, that sign access tokens. A token that comes has to be good.
    pub token_keys: Vec<PathBuf>,
    pub token_issuer: String,
    /// This server's name in the tokens.
    pub token_audience: Option<String>,
    /// Clients without a token are turned away.
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

/// What a client may take. 0 is no limit, except where a range is given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    pub connections: usize,
    pub connections_per_client: usize,
    /// Tests that run at a time; others wait in the queue.
    pub tests: usize,
    pub tests_per_client: usize,
    /// Tests that wait for their turn; beyond that a client is refused.
    pub queue: usize,
    pub queue_wait_s: u64,
    /// Bits per second of one test, all its streams together.
    pub rate_bps: u64,
    pub bytes: u64,
    pub duration_s: u64,
    /// Seconds for each step that needs an answer of the client.
    pub step_s: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 0,
            connections_per_client: 0,
            tests: 0,
            tests_per_client: 0,
            queue: 64,
            queue_wait_s: 60,
            rate_bps: 0,
            bytes: 0,
            duration_s: 3600,
            step_s: 10,
        }
    }
}

impl Limits {
    pub fn step(&self) -> Duration {
        Duration::from_secs(self.step_s)
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

/// A fault in what the operator wrote: where, what, and what is allowed.
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

    /// Fills in what depends on the whole: without any listener, loopback is served.
    pub fn with_default_listeners(mut self) -> Config {
        let listeners = [self.http.len(), self.https.len(), self.metrics.len(), self.iperf3.len()];
        if listeners == [0; 4] {
            self.iperf3.push(Iperf3::at(SocketAddr::from(([127, 0, 0, 1], 5201))));
            self.http.push(Http { listen: SocketAddr::from(([127, 0, 0, 1], 8080)) });
        }
        self
    }

    /// Settings that change nothing, as what they are about is not there.
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
        ];
        let idle = idle.into_iter().filter(|(idle, ..)| *idle);
        idle.map(|(_, place, fault)| ConfigError { place: place.into(), fault: fault.into() })
            .collect()
    }

    /// Is every value in its range, and known to this kernel?
    pub fn check(&self, kernel: &Kernel) -> Result<(), ConfigError> {
        range::check("server.loops", self.server.loops as u64, &range::LOOPS)?;
        range::check("server.drain_s", self.server.drain_s, &range::DRAIN_S)?;
        range::check("server.sample_ms", self.server.sample_ms, &range::SAMPLE_MS)?;
        range::check("limits.step_s", self.limits.step_s, &range::STEP_S)?;
        range::check("limits.duration_s", self.limits.duration_s, &range::DURATION_S)?;
        range::check("limits.queue_wait_s", self.limits.queue_wait_s, &range::QUEUE_WAIT_S)?;
        if !self.https.is_empty() {
            required("tls.cert", &self.tls.cert)?;
            required("tls.key", &self.tls.key)?;
        }
        listen::check(self)?;
        self.cors.check()?;
        kernel.check_congestion("ndt7.congestion", self.ndt7.congestion.as_deref())?;
        self.results.check()?;
        for (index, listen) in self.iperf3.iter().enumerate() {
            kernel.check_congestion(
                &format!("iperf3[{index}].congestion"),
                listen.congestion.as_deref(),
            )?;
            let skew_s = listen.auth.as_ref().map_or(1, |auth| u64::from(auth.time_skew_s));
            range::check(
                &format!("iperf3[{index}].auth.time_skew_s"),
                skew_s,
                &range::TIME_SKEW_S,
            )?;
        }
        Ok(())
    }
}

/// A fault in the file without the names of Rust's types.
fn in_words(fault: &str) -> String {
    let number = "expected a whole number without suffix, 0 or more";
    let types = ["expected usize", "expected u64", "expected u32"];
    types.iter().fold(fault.trim_end().to_owned(), |said, name| said.replace(name, number))
}

fn required(place: &str, file: &Option<PathBuf>) -> Result<(), ConfigError> {
    if file.is_some() {
        return Ok(());
    }
    let fault = "not set; HTTPS needs a certificate and its key, as files in PEM".into();
    Err(ConfigError { place: place.to_owned(), fault })
}

/// What this kernel offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kernel {
    pub congestion: Vec<String>,
}

impl Kernel {
    /// Reads the congestion controls that are loaded, or of them those that everybody may use.
    pub fn of_this_host(privileged: bool) -> Kernel {
        let which = if privileged { "available" } else { "allowed" };
        let path = format!("/proc/sys/net/ipv4/tcp_{which}_congestion_control");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        Kernel { congestion: text.split_whitespace().map(str::to_owned).collect() }
    }

    pub fn has_congestion(&self, name: &str) -> bool {
        self.congestion.iter().any(|known| known == name)
    }

    fn check_congestion(&self, place: &str, name: Option<&str>) -> Result<(), ConfigError> {
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
    fn a_setting_without_effect_is_told() {
        let idle = "[tls]\ncert = 'c'\nkey = 'k'\n[results]\nkeep_addresses_days = 1\n";
        let places = |text: &str| -> Vec<String> {
            parse(text).unwrap().without_effect().into_iter().map(|it| it.place).collect()
        };
        assert_eq!(places(idle), ["tls", "results.keep_addresses_days"]);
        let used = format!("{idle}jsonl = 'r'\n[[https]]\nlisten = '[::]:1'\n");
        assert!(places(&used).is_empty());
        assert!(places(include_str!("../../dist/speedtest.toml")).is_empty());
    }
}
