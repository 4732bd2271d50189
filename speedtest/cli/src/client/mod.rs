// SPDX-License-Identifier: Apache-2.0
//! `client`: one test, or many at once out of one process, against a server that speaks iperf3.

mod report;
mod stream;
mod test;

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use speedtest_net::reactor::{Lane, Lanes};
use speedtest_net::sys;
use speedtest_proto::iperf3::{Direction, End, Params, MAX_BLOCK_BYTES, MAX_STREAMS};

use report::Outcome;
use test::Test;

/// Time that a server may take for everything around the test itself.
const GRACE: Duration = Duration::from_secs(30);

#[derive(clap::Args)]
pub struct Args {
    /// Server, as HOST or HOST:PORT; port 5201 when left out
    server: String,
    /// Seconds to test
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    time: u32,
    /// Bytes to move in each direction, instead of a time
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u64).range(1..))]
    bytes: Option<u64>,
    /// The server sends
    #[arg(long, conflicts_with = "bidirectional")]
    reverse: bool,
    /// Both send
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
    #[arg(long, value_name = "N", default_value_t = 128 << 10, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_BLOCK_BYTES)))]
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
    /// Tests at once, all out of this process
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    clients: u32,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> ExitCode {
    let result = resolve(&args.server).and_then(|address| test(args, address));
    match result {
        Ok(outcomes) => {
            report::print(args.json, &outcomes);
            let failed = outcomes.iter().any(|outcome| outcome.error.is_some());
            ExitCode::from(u8::from(failed))
        }
        Err(error) => {
            eprintln!("error: {}: {error}", args.server);
            ExitCode::FAILURE
        }
    }
}

fn resolve(server: &str) -> io::Result<SocketAddr> {
    const PORT: u16 = 5201;
    let found = match server.parse() {
        Ok(ip) => (std::net::IpAddr::to_canonical(&ip), PORT).to_socket_addrs()?.next(),
        Err(_) if server.contains(':') => server.to_socket_addrs()?.next(),
        Err(_) => (server, PORT).to_socket_addrs()?.next(),
    };
    found.ok_or_else(|| io::Error::other("the name has no address"))
}

fn params(args: &Args) -> Params {
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
        client_version: concat!("wirespeed-speedtest ", env!("CARGO_PKG_VERSION")).into(),
        ..Params::default()
    }
}

/// Runs all tests at once and waits for the last one.
fn test(args: &Args, address: SocketAddr) -> io::Result<Vec<Outcome>> {
    sys::raise_file_limit()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let lanes = Lanes::new(cores.min(args.clients as usize * args.parallel as usize))?;
    let (outcomes, results) = mpsc::channel();
    for number in 0..args.clients as usize {
        let test = Test::begin(number, address, params(args), outcomes.clone())?;
        lanes.adopt(number % lanes.count(), Box::new(test));
    }
    let loops: Vec<_> = (0..lanes.count())
        .map(|index| Lane::new(index, lanes.clone()))
        .collect::<io::Result<Vec<_>>>()?
        .into_iter()
        .map(|lane| std::thread::spawn(move || lane.run()))
        .collect();
    let most = GRACE
        + Duration::from_secs(if args.bytes.is_some() { 3600 } else { u64::from(args.time) })
        + Duration::from_secs(args.omit.into());
    let deadline = std::time::Instant::now() + most;
    let mut all = Vec::new();
    while all.len() < args.clients as usize {
        let left = deadline.saturating_duration_since(std::time::Instant::now());
        match results.recv_timeout(left) {
            Ok(outcome) => all.push(outcome),
            Err(_) => all.push(Outcome::failed("the server did not end the test in time".into())),
        }
    }
    lanes.stop();
    for thread in loops {
        thread.join().map_err(|_| io::Error::other("a loop panicked"))??;
    }
    Ok(all)
}
