// SPDX-License-Identifier: Apache-2.0
//! `client`: one test, or many at once from one process: iperf3, ndt7, LibreSpeed or
//! responsiveness.

mod auth;
mod report;
mod responsiveness;
pub mod server;
mod stream;
mod test;
mod web;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use speedtest_net::reactor::{Lane, Lanes};
use speedtest_net::sys;
use speedtest_proto::iperf3::{Direction, End, Params, MAX_BLOCK_BYTES, MAX_STREAMS};

use report::Outcome;
use server::Server;
use test::Test;
use web::trust::Trust;

/// Time that a server may take for everything except the test itself.
const GRACE: Duration = Duration::from_secs(30);

const DEFAULT_BLOCK: u32 = 128 << 10;

#[derive(clap::Args)]
pub struct Args {
    /// Server, as HOST or HOST:PORT; default port: 5201 for iperf3, else 80 or 443
    server: Server,
    /// The test's protocol
    #[arg(long, value_enum, default_value_t = Protocol::Iperf3)]
    protocol: Protocol,
    /// Use TLS for ndt7 and LibreSpeed (wss and https); responsiveness always does
    #[arg(long)]
    tls: bool,
    /// Certificate authorities to trust, a PEM file; default: the system's
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Seconds to test; for responsiveness at most per direction, which needs 14 for high confidence
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    time: u32,
    /// Bytes to move in each direction, instead of a time
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u64).range(1..))]
    bytes: Option<u64>,
    /// The server sends; default: the client sends; responsiveness: one direction after the other
    #[arg(long, conflicts_with = "bidirectional")]
    reverse: bool,
    /// Both sides send at the same time
    #[arg(long)]
    bidirectional: bool,
    /// Streams in each direction
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_STREAMS)))]
    parallel: u32,
    /// Seconds at the start that do not count
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=600))]
    omit: u32,
    /// Bits per second of each stream
    #[arg(long, value_name = "BPS", value_parser = clap::value_parser!(u64).range(1..))]
    rate: Option<u64>,
    /// Bytes of each write
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BLOCK, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_BLOCK_BYTES)))]
    block: u32,
    /// Socket buffers on both sides, bytes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    window: Option<u32>,
    /// Maximum segment size
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(88..=32_767))]
    mss: Option<u32>,
    /// Congestion control on both sides
    #[arg(long, value_name = "NAME")]
    congestion: Option<String>,
    /// Tests at once, all from this process
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    clients: u32,
    #[command(flatten)]
    auth: auth::Credentials,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Protocol {
    Iperf3,
    Ndt7,
    Librespeed,
    /// Round trips a minute under load (draft-ietf-ippm-responsiveness), over HTTP/2
    Responsiveness,
}

impl Args {
    fn port(&self) -> u16 {
        match (self.protocol, self.tls) {
            (Protocol::Iperf3, _) => 5201,
            (Protocol::Responsiveness, _) | (_, true) => 443,
            (_, false) => 80,
        }
    }

    /// Return the server's name and port, for messages and URLs.
    fn place(&self) -> String {
        self.server.place(self.port())
    }

    /// Load the authorities that the client trusts, if TLS is used. An error is for the user.
    fn trust(&self) -> Result<Option<Trust>, String> {
        let secret = self.tls || self.protocol == Protocol::Responsiveness;
        secret.then(|| Trust::load(self.ca.as_deref(), &self.server.host)).transpose()
    }

    /// Return the option that does not apply to the protocol.
    fn misfit(&self) -> Option<&'static str> {
        let responsiveness = self.protocol == Protocol::Responsiveness;
        let iperf3 = self.protocol == Protocol::Iperf3;
        let given = [
            (iperf3 && self.tls, "--tls"),
            (self.ca.is_some() && !self.tls && !responsiveness, "--ca without --tls"),
            (!iperf3 && self.auth.username.is_some(), "--username"),
            (!iperf3 && self.omit > 0, "--omit"),
            (!iperf3 && self.rate.is_some(), "--rate"),
            (responsiveness && self.bytes.is_some(), "--bytes"),
            (responsiveness && self.parallel != 1, "--parallel"),
            (responsiveness && self.clients != 1, "--clients"),
            (responsiveness && self.block != DEFAULT_BLOCK, "--block"),
            (responsiveness && self.window.is_some(), "--window"),
            (responsiveness && self.mss.is_some(), "--mss"),
        ];
        given.into_iter().find(|(wrong, _)| *wrong).map(|(_, option)| option)
    }
}

/// Exit code for errors of the caller.
const BAD_INPUT: u8 = 2;

pub fn run(args: &Args) -> ExitCode {
    if let Some(option) = args.misfit() {
        let protocol = args.protocol.to_possible_value();
        let name = protocol.as_ref().map_or("", |value| value.get_name());
        eprintln!("error: {option} cannot be used with --protocol {name}");
        return ExitCode::from(BAD_INPUT);
    }
    let read = args.auth.identity().and_then(|identity| Ok((identity, args.trust()?)));
    let (identity, trust) = match read {
        Ok(read) => read,
        Err(why) => {
            eprintln!("error: {why}");
            return ExitCode::from(BAD_INPUT);
        }
    };
    let result =
        args.server.resolve(args.port()).and_then(|address| match (args.protocol, trust) {
            (Protocol::Iperf3, _) => {
                test(args, address, identity.as_ref()).map(|outcomes| printed(args, &outcomes))
            }
            (Protocol::Responsiveness, Some(trust)) => responsiveness::run(args, address, trust),
            (_, trust) => web::test(args, address, trust).map(|outcomes| printed(args, &outcomes)),
        });
    match result {
        Ok(code) => code,
        Err(error) => not_begun(args, &format!("{}: {error}", args.place())),
    }
}

/// Report that no test could begin; with --json in JSON.
fn not_begun(args: &Args, why: &str) -> ExitCode {
    if !args.json {
        eprintln!("error: {why}");
    } else if args.protocol == Protocol::Responsiveness {
        responsiveness::print_failure(why);
    } else {
        let failed = || Outcome::failed(why.to_owned());
        report::print(true, &(0..args.clients).map(|_| failed()).collect::<Vec<_>>());
    }
    ExitCode::FAILURE
}

fn printed(args: &Args, outcomes: &[Outcome]) -> ExitCode {
    report::print(args.json, outcomes);
    let failed = outcomes.iter().any(|outcome| outcome.error.is_some());
    ExitCode::from(u8::from(failed))
}

fn params(args: &Args, auth_token: Option<String>) -> Params {
    Params {
        direction: match (args.reverse, args.bidirectional) {
            (true, _) => Direction::Reverse,
            (_, true) => Direction::Bidirectional,
            _ => Direction::Forward,
        },
        end: args.bytes.map_or(End::Seconds(args.time), End::Bytes),
        omit_s: args.omit,
        streams: args.parallel,
        block_bytes: args.block,
        window_bytes: args.window,
        mss: args.mss,
        rate_bps: args.rate,
        congestion: args.congestion.clone(),
        server_output: true,
        auth_token,
        client_version: concat!("wirespeed-speedtest ", env!("CARGO_PKG_VERSION")).into(),
        ..Params::default()
    }
}

/// Run all tests at once and wait for the last one.
fn test(
    args: &Args,
    address: SocketAddr,
    identity: Option<&auth::Identity>,
) -> io::Result<Vec<Outcome>> {
    sys::raise_file_limit()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let lanes = Lanes::new(cores.min(args.clients as usize * args.parallel as usize))?;
    let (outcomes, results) = mpsc::channel();
    for number in 0..args.clients as usize {
        let token = identity.map(auth::Identity::token).transpose().map_err(io::Error::other)?;
        let place = (args.place(), address);
        let test = Test::begin(number, place, params(args, token), outcomes.clone())?;
        lanes.adopt(number % lanes.count(), Box::new(test));
    }
    let until = deadline(args);
    run_lanes(&lanes, || {
        let mut all = Vec::new();
        while all.len() < args.clients as usize {
            let left = until.saturating_duration_since(Instant::now());
            let late = || Outcome::failed("the server did not end the test in time".into());
            all.push(results.recv_timeout(left).unwrap_or_else(|_| late()));
        }
        all
    })
}

/// Return the time after which a run will not end any more.
fn deadline(args: &Args) -> Instant {
    let time = if args.bytes.is_some() { 3600 } else { u64::from(args.time) };
    Instant::now() + GRACE + Duration::from_secs(time + u64::from(args.omit))
}

/// Run all loops while `wait` waits for their results.
pub fn run_lanes<T>(lanes: &Lanes, wait: impl FnOnce() -> T) -> io::Result<T> {
    let loops: Vec<_> = (0..lanes.count())
        .map(|index| Lane::new(index, lanes.clone()))
        .collect::<io::Result<Vec<_>>>()?
        .into_iter()
        .map(|lane| std::thread::spawn(move || lane.run()))
        .collect();
    let all = wait();
    lanes.stop();
    for thread in loops {
        thread.join().map_err(|_| io::Error::other("a loop panicked"))??;
    }
    Ok(all)
}
