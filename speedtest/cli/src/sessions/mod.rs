// SPDX-License-Identifier: Apache-2.0
//! `sessions`: TCP connections with one HTTP request each, as RFC 9411 counts them: connections per
//! second (section 7.2) and concurrent connections (section 7.5).
//!
//! The server closes a connection that counts per second, so that the client's port is free at once.

mod counts;
mod session;

use std::io;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use speedtest_net::reactor::{Address, Lanes};
use speedtest_net::sys;

use crate::client::run_lanes;
use crate::client::server::Server;
use counts::Counts;
use session::{locked, Again, News, Run, PATIENCE};

const PORT: u16 = 80;
/// Object of one octet (draft-ietf-ippm-responsiveness).
const PATH: &str = "/nq/small";
/// Pause before another connection takes the place of one that failed.
const PAUSE: Duration = Duration::from_millis(10);
/// Concurrent connections count at any time.
const FOREVER: Duration = Duration::from_secs(86_400);

#[derive(clap::Args)]
pub struct Args {
    /// Server, as HOST or HOST:PORT; default port: 80
    server: Server,
    /// Open this many connections and hold them; default: count connections per second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    hold: Option<u32>,
    /// Seconds that count, or for which connections are held
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=3600))]
    time: u32,
    /// Seconds at the start that do not count
    #[arg(long, value_name = "S", default_value_t = 0, conflicts_with = "hold", value_parser = clap::value_parser!(u32).range(0..=600))]
    omit: u32,
    /// Connections that are being opened at the same time
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    parallel: u32,
}

/// Print one JSON object.
pub fn run(args: &Args) -> ExitCode {
    let told = match measure(args) {
        Ok(told) => told,
        Err(error) => json!({"error": format!("{}: {error}", args.server.place(PORT))}),
    };
    let failed = !told["error"].is_null();
    println!("{told}");
    ExitCode::from(u8::from(failed))
}

fn measure(args: &Args) -> io::Result<Value> {
    let files = sys::raise_file_limit()?;
    let address = args.server.resolve(PORT)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let lanes = Lanes::new(cores.min(args.parallel as usize))?;
    let (news, heard) = mpsc::channel();
    let closes = args.hold.is_none();
    let connection = if closes { "close" } else { "keep-alive" };
    let place = args.server.place(PORT);
    let request =
        format!("GET {PATH} HTTP/1.1\r\nHost: {place}\r\nConnection: {connection}\r\n\r\n");
    let began = Instant::now();
    let from = began + Duration::from_secs(args.omit.into());
    let counted = if closes { Duration::from_secs(args.time.into()) } else { FOREVER };
    let run = Arc::new(Run {
        address,
        request: request.into_bytes(),
        closes,
        from,
        until: from + counted,
        counts: (0..lanes.count()).map(|_| Mutex::default()).collect(),
        open: AtomicU64::new(0),
        again: AtomicU64::new(0),
        news,
    });
    let mut told = run_lanes(&lanes, || match args.hold {
        None => rate(args, &run, &lanes, &heard),
        Some(limit) => held(args, limit, &run, &lanes, &heard),
    })?;
    let mut all = Counts::default();
    run.counts.iter().for_each(|counts| all.merge(&locked(counts)));
    let (user, system) = sys::process_times();
    let share = (user + system).as_secs_f64() / began.elapsed().as_secs_f64();
    for (key, value) in [
        ("error", Value::Null),
        ("counts", all.json()),
        ("cpu_share", json!(share)),
        ("open_files", json!(files)),
    ] {
        told[key] = value;
    }
    Ok(told)
}

/// Let `--parallel` connections follow one another until the time is over.
fn rate(args: &Args, run: &Arc<Run>, lanes: &Lanes, heard: &Receiver<News>) -> Value {
    for number in 0..args.parallel as usize {
        run.start(lanes, number % lanes.count());
    }
    let mut running = args.parallel;
    while running > 0 {
        match next(heard, run.until + PATIENCE) {
            None => break,
            Some(News::Failed(lane)) if Instant::now() < run.until => {
                std::thread::sleep(PAUSE);
                run.start(lanes, lane);
            }
            Some(_) => running -= 1,
        }
    }
    json!({"seconds": args.time})
}

/// Open `limit` connections, hold them, and check that each still answers.
fn held(args: &Args, limit: u32, run: &Arc<Run>, lanes: &Lanes, heard: &Receiver<News>) -> Value {
    let began = Instant::now();
    let open = open_all(args, limit, run, lanes, heard);
    let opening_s = began.elapsed().as_secs_f64();
    let until = Instant::now() + Duration::from_secs(args.time.into());
    // Only failures are news now, and they are counted.
    while next(heard, until).is_some() {}
    let held = run.open.load(Ordering::Relaxed);
    let mut waiting = held;
    open.iter().for_each(|at| lanes.tell(*at, Again));
    let late = Instant::now() + 2 * PATIENCE;
    while waiting > 0 && next(heard, late).is_some() {
        waiting -= 1;
    }
    json!({
        "opening_s": opening_s,
        "opened": open.len(),
        "held": held,
        "answered_again": run.again.load(Ordering::Relaxed),
    })
}

/// Return the addresses of the connections that could be opened. Stop after as many failures in a row
/// as connections are being opened at the same time.
fn open_all(
    args: &Args,
    limit: u32,
    run: &Arc<Run>,
    lanes: &Lanes,
    heard: &Receiver<News>,
) -> Vec<Address> {
    let (mut open, mut started, mut opening, mut failed) = (Vec::new(), 0, 0, 0);
    loop {
        while opening < args.parallel && started < limit && failed < args.parallel {
            run.start(lanes, started as usize % lanes.count());
            (started, opening) = (started + 1, opening + 1);
        }
        if opening == 0 {
            return open;
        }
        match next(heard, Instant::now() + 2 * PATIENCE) {
            Some(News::Open(at)) => {
                open.push(at);
                (opening, failed) = (opening - 1, 0);
            }
            Some(News::Failed(_)) => (opening, failed) = (opening - 1, failed + 1),
            // One that was open broke meanwhile; it does not answer again.
            Some(_) => {}
            None => return open,
        }
    }
}

/// Return the next news; None at `until`.
fn next(heard: &Receiver<News>, until: Instant) -> Option<News> {
    heard.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
}
