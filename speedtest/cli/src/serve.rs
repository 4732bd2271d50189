// SPDX-License-Identifier: Apache-2.0
//! `serve`: the flags, which override the TOML file.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use speedtest_server::config::range::{self, whole};
use speedtest_server::config::{
    default_skew_s, listen_address, AuthFiles, ConfigError, Http, Iperf3, LogFormat, Padding,
};
use speedtest_server::serve::ServeError;
use speedtest_server::{serve, Config};

/// The exit code for errors of the operator.
const BAD_INPUT: u8 = 2;

#[derive(clap::Args)]
pub struct Args {
    /// TOML file; flags override it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Serve the iperf3 protocol here; repeatable
    #[arg(long, value_name = "ADDR:PORT", value_parser = listen_address)]
    iperf3: Vec<SocketAddr>,
    /// Serve the browser page and LibreSpeed's endpoints here, in clear text; repeatable
    #[arg(long, value_name = "ADDR:PORT", value_parser = listen_address)]
    http: Vec<SocketAddr>,
    /// Serve the same over TLS here; repeatable
    #[arg(long, value_name = "ADDR:PORT", value_parser = listen_address)]
    https: Vec<SocketAddr>,
    /// Certificate chain in PEM; loaded again when the file changes, and on SIGHUP
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Serve Prometheus metrics here, at /metrics; repeatable
    #[arg(long, value_name = "ADDR:PORT", value_parser = listen_address)]
    metrics: Vec<SocketAddr>,
    /// Keep results: FILE (JSON lines), sqlite:FILE or postgresql://...
    #[arg(long, value_name = "TO")]
    results: Option<String>,
    /// Results that the database does not take wait in this file
    #[arg(long, value_name = "FILE")]
    results_spool: Option<PathBuf>,
    /// Drop client addresses from results after N days; 0 keeps none
    #[arg(long, value_name = "DAYS", value_parser = whole::<u32>(range::KEEP_ADDRESSES_DAYS), allow_negative_numbers = true)]
    keep_addresses: Option<u32>,
    /// Congestion control of the iperf3 addresses given as flags
    #[arg(long, value_name = "NAME", requires = "iperf3")]
    congestion: Option<String>,
    /// Send with MSG_ZEROCOPY on the iperf3 addresses given as flags
    #[arg(long, requires = "iperf3")]
    zero_copy: bool,
    /// RSA key of the iperf3 addresses given as flags: only authorized users may test there
    #[arg(long, value_name = "PEM", requires_all = ["authorized_users_path", "iperf3"])]
    rsa_private_key_path: Option<PathBuf>,
    /// Users who may test: lines of USER,SHA256 as for iperf3
    #[arg(long, value_name = "FILE", requires = "rsa_private_key_path")]
    authorized_users_path: Option<PathBuf>,
    /// Seconds that the clock of such a client may differ [default: 10]
    #[arg(long, value_name = "S", requires = "rsa_private_key_path", value_parser = whole::<u32>(range::TIME_SKEW_S), allow_negative_numbers = true)]
    time_skew_threshold: Option<u32>,
    /// Event loops; 0 is one for each core
    #[arg(long, value_name = "N", value_parser = whole::<usize>(range::LOOPS), allow_negative_numbers = true)]
    loops: Option<usize>,
    /// Tests that run at a time; others wait in the queue
    #[arg(long, value_name = "N", value_parser = whole::<usize>(range::ANY), allow_negative_numbers = true)]
    max_tests: Option<usize>,
    /// Tests that wait for their turn; beyond that a client is refused
    #[arg(long, value_name = "N", value_parser = whole::<usize>(range::ANY), allow_negative_numbers = true)]
    queue: Option<usize>,
    /// Highest rate of one test, bits per second
    #[arg(long, value_name = "BPS", value_parser = whole::<u64>(range::ANY), allow_negative_numbers = true)]
    max_rate: Option<u64>,
    /// Longest test, seconds
    #[arg(long, value_name = "S", value_parser = whole::<u64>(range::DURATION_S), allow_negative_numbers = true)]
    max_duration: Option<u64>,
    /// Seconds that running tests get to finish after SIGTERM
    #[arg(long, value_name = "S", value_parser = whole::<u64>(range::DRAIN_S), allow_negative_numbers = true)]
    drain: Option<u64>,
    /// Started as root, change to this user once the addresses are bound: NAME or UID:GID
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// One line of text or one JSON object for each event
    #[arg(long, value_enum)]
    log: Option<LogChoice>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum LogChoice {
    Text,
    Json,
}

pub fn run(args: Args) -> ExitCode {
    let result = config(args).map_err(ServeError::from).and_then(serve);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if matches!(error, ServeError::Config(_)) { BAD_INPUT } else { 1 })
        }
    }
}

fn config(args: Args) -> Result<Config, ConfigError> {
    let mut config = match &args.config {
        Some(path) => Config::load(path)?,
        None => Config::default(),
    };
    let auth = args.rsa_private_key_path.zip(args.authorized_users_path);
    let auth = auth.map(|(rsa_private_key, authorized_users)| AuthFiles {
        rsa_private_key,
        authorized_users,
        time_skew_s: args.time_skew_threshold.unwrap_or_else(default_skew_s),
        padding: Padding::Any,
    });
    config.iperf3.extend(args.iperf3.into_iter().map(|address| Iperf3 {
        congestion: args.congestion.clone(),
        zero_copy: args.zero_copy,
        auth: auth.clone(),
        ..Iperf3::at(address)
    }));
    config.http.extend(args.http.into_iter().map(Http::at));
    config.https.extend(args.https.into_iter().map(Http::at));
    let tls = args.tls_cert.as_ref().map(|_| "--tls-cert");
    let tls = tls.or(args.tls_key.as_ref().map(|_| "--tls-key"));
    if let Some(flag) = tls.filter(|_| config.https.is_empty()) {
        return Err(without_effect(flag, "--https"));
    }
    config.tls.cert = args.tls_cert.or(config.tls.cert);
    config.tls.key = args.tls_key.or(config.tls.key);
    config.metrics.extend(args.metrics.into_iter().map(Http::at));
    if let Some(to) = args.results {
        config.results = config.results.in_store(&to)?;
    }
    if args.results_spool.is_some() {
        config.results.spool = args.results_spool;
    }
    if args.keep_addresses.is_some() {
        if !config.results.wanted() {
            return Err(without_effect("--keep-addresses", "--results"));
        }
        config.results.keep_addresses_days = args.keep_addresses;
    }
    if let Some(loops) = args.loops {
        config.server.loops = loops;
    }
    if let Some(tests) = args.max_tests {
        config.limits.tests = tests;
    }
    if let Some(queue) = args.queue {
        config.limits.queue = queue;
    }
    if let Some(rate) = args.max_rate {
        config.limits.rate_bps = rate;
    }
    if let Some(duration) = args.max_duration {
        config.limits.duration_s = duration;
    }
    if let Some(drain) = args.drain {
        config.server.drain_s = drain;
    }
    if args.user.is_some() {
        config.server.user = args.user;
    }
    if let Some(choice) = args.log {
        config.log.format = match choice {
            LogChoice::Text => LogFormat::Text,
            LogChoice::Json => LogFormat::Json,
        };
    }
    Ok(config.with_default_listeners())
}

fn without_effect(flag: &str, missing: &str) -> ConfigError {
    ConfigError { place: flag.to_owned(), fault: format!("has no effect without {missing}") }
}
