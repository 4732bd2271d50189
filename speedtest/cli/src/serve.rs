// SPDX-License-Identifier: Apache-2.0
//! `serve`: the flags, laid over the TOML file.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use speedtest_server::config::{
    AuthFiles, ConfigError, Http, Iperf3, LogFormat, Padding, ResultsTo,
};
use speedtest_server::serve::ServeError;
use speedtest_server::{serve, Config};

/// The exit code for what only the operator can mend.
const BAD_INPUT: u8 = 2;

#[derive(clap::Args)]
pub struct Args {
    /// TOML file; flags win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Serve the iperf3 protocol here; repeatable
    #[arg(long, value_name = "ADDR:PORT")]
    iperf3: Vec<SocketAddr>,
    /// Serve the browser page and LibreSpeed's endpoints here, in clear text; repeatable
    #[arg(long, value_name = "ADDR:PORT")]
    http: Vec<SocketAddr>,
    /// Serve the same over TLS here; repeatable
    #[arg(long, value_name = "ADDR:PORT")]
    https: Vec<SocketAddr>,
    /// Certificate chain in PEM; loaded again when the file changes, and on SIGHUP
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Serve Prometheus metrics here, at /metrics; repeatable
    #[arg(long, value_name = "ADDR:PORT")]
    metrics: Vec<SocketAddr>,
    /// Keep results: FILE (JSON lines), sqlite:FILE or postgresql://...
    #[arg(long, value_name = "TO")]
    results: Option<String>,
    /// What the database does not take waits in this file
    #[arg(long, value_name = "FILE")]
    results_spool: Option<PathBuf>,
    /// Drop client addresses from results after so many days; 0 keeps none
    #[arg(long, value_name = "DAYS")]
    keep_addresses: Option<u32>,
    /// Congestion control of the iperf3 addresses given as flags
    #[arg(long, value_name = "NAME")]
    congestion: Option<String>,
    /// Send with MSG_ZEROCOPY on the iperf3 addresses given as flags
    #[arg(long)]
    zero_copy: bool,
    /// RSA key of the iperf3 addresses given as flags: only authorized users may test there
    #[arg(long, value_name = "PEM", requires = "authorized_users_path")]
    rsa_private_key_path: Option<PathBuf>,
    /// Who may test: lines of USER,SHA256 as iperf3 has them
    #[arg(long, value_name = "FILE", requires = "rsa_private_key_path")]
    authorized_users_path: Option<PathBuf>,
    /// Seconds that the clock of such a client may differ
    #[arg(long, value_name = "S", default_value_t = 10)]
    time_skew_threshold: u32,
    /// Event loops; 0 is one for each core
    #[arg(long, value_name = "N")]
    loops: Option<usize>,
    /// Tests that run at a time; others wait in the queue
    #[arg(long, value_name = "N")]
    max_tests: Option<usize>,
    /// Tests that wait for their turn; beyond that a client is refused
    #[arg(long, value_name = "N")]
    queue: Option<usize>,
    /// Highest rate of one test, bits per second
    #[arg(long, value_name = "BPS")]
    max_rate: Option<u64>,
    /// Longest test, seconds
    #[arg(long, value_name = "S")]
    max_duration: Option<u64>,
    /// Seconds that running tests get to finish after SIGTERM
    #[arg(long, value_name = "S")]
    drain: Option<u64>,
    /// Started as root, go on as this user once the addresses are bound: NAME or UID:GID
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
        time_skew_s: args.time_skew_threshold,
        padding: Padding::Any,
    });
    config.iperf3.extend(args.iperf3.into_iter().map(|address| Iperf3 {
        congestion: args.congestion.clone(),
        zero_copy: args.zero_copy,
        auth: auth.clone(),
        ..Iperf3::at(address)
    }));
    config.http.extend(args.http.into_iter().map(|listen| Http { listen }));
    config.https.extend(args.https.into_iter().map(|listen| Http { listen }));
    config.tls.cert = args.tls_cert.or(config.tls.cert);
    config.tls.key = args.tls_key.or(config.tls.key);
    config.metrics.extend(args.metrics.into_iter().map(|listen| Http { listen }));
    if let Some(to) = args.results {
        config.results = results(to, config.results);
    }
    if args.results_spool.is_some() {
        config.results.spool = args.results_spool;
    }
    if args.keep_addresses.is_some() {
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

/// What `--results` says, in place of the store that the file names.
fn results(to: String, file: ResultsTo) -> ResultsTo {
    let rest = ResultsTo { jsonl: None, sqlite: None, postgresql: None, ..file };
    if let Some(path) = to.strip_prefix("sqlite:") {
        ResultsTo { sqlite: Some(path.into()), ..rest }
    } else if to.starts_with("postgresql:") || to.starts_with("postgres:") {
        ResultsTo { postgresql: Some(to), ..rest }
    } else {
        ResultsTo { jsonl: Some(to.into()), ..rest }
    }
}
