// SPDX-License-Identifier: Apache-2.0
//! Responsiveness test: round trips per minute under load. HTTP/2 over TLS, as in
//! draft-ietf-ippm-responsiveness.
//!
//! # Layout
//! - [`connect`]: a connection, and how long it took to open; small answers on it.
//! - [`load`]: connections that move as much as they can.
//! - [`measure`]: one direction: load, probes, intervals, until the figures are stable.
//! - [`report`]: JSON and text.

mod connect;
mod load;
mod measure;
mod report;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use speedtest_net::options::Options;
use speedtest_proto::nq::{Urls, WELL_KNOWN};
use speedtest_proto::responsiveness::responsiveness;

use super::web::trust::Trust;
use super::Args;
use connect::{fetch, probe_foreign, Link, Place};
use measure::{Direction, Timings};

/// Probes before there is any load.
const IDLE_PROBES: usize = 5;
const PATIENCE: Duration = Duration::from_secs(10);
const MOST_CONFIG_BYTES: usize = 64 << 10;

/// Load on the path, both directions at once or one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Down,
    Up,
}

/// Measure and print. It fails when any direction could not be measured.
pub fn run(args: &Args, address: SocketAddr, trust: Trust) -> io::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let found = runtime.block_on(test(args, address, trust));
    // Do not wait for load that is still running.
    runtime.shutdown_background();
    let (error, idle, directions) = match found {
        Ok((idle, directions, error)) => (error, Some(idle), directions),
        Err(error) => (Some(error), None, Vec::new()),
    };
    let error = error.map(|error| error.to_string());
    print!("{}", report::render(args.json, error.as_deref(), idle.as_ref(), &directions));
    Ok(ExitCode::from(u8::from(error.is_some())))
}

/// Print a JSON error when no test could begin.
pub fn print_failure(why: &str) {
    print!("{}", report::render(true, Some(why), None, &[]));
}

type Found = (Timings, Vec<Direction>, Option<io::Error>);

async fn test(args: &Args, address: SocketAddr, mut trust: Trust) -> io::Result<Found> {
    let options = Options { congestion: args.congestion.clone(), ..Options::default() };
    trust.speak(b"h2");
    let home = Place::new(address, args.place(), trust, options);
    let urls = timely("the configuration", configuration(&home)).await?;
    let small = home.at(&urls.small)?;
    let large = home.at(&urls.large)?;
    let upload = home.at(&urls.upload)?;
    let mut idle = Timings::default();
    for _ in 0..IDLE_PROBES {
        idle.foreign(timely("a probe without load", probe_foreign(&small)).await?);
    }
    let rounds: &[&[Way]] = match (args.reverse, args.bidirectional) {
        (true, _) => &[&[Way::Down]],
        (_, true) => &[&[Way::Down, Way::Up]],
        _ => &[&[Way::Down], &[Way::Up]],
    };
    let mut directions = Vec::new();
    for ways in rounds {
        match measure::direction(ways, [&small, &large, &upload], args.time).await {
            Ok(direction) => directions.push(direction),
            // Earlier results remain valid.
            Err(error) => return Ok((idle, directions, Some(error))),
        }
    }
    Ok((idle, directions, None))
}

async fn configuration(home: &Place) -> io::Result<Urls> {
    let mut link = Link::open(home).await?;
    let (status, body) = fetch(&mut link, home, WELL_KNOWN, MOST_CONFIG_BYTES).await?;
    if status != 200 {
        let why = format!("{WELL_KNOWN}: status {status}; the server does not offer this test");
        return Err(io::Error::other(why));
    }
    let text = String::from_utf8(body).map_err(io::Error::other)?;
    Urls::of_config(&text).map_err(io::Error::other)
}

/// Return the outcome, or an error if it does not come in time.
async fn timely<T>(what: &str, outcome: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = || {
        let why = format!("no answer to {what} in {} s", PATIENCE.as_secs());
        io::Error::new(io::ErrorKind::TimedOut, why)
    };
    tokio::time::timeout(PATIENCE, outcome).await.unwrap_or_else(|_| Err(late()))
}

impl Timings {
    fn summary(&self) -> Option<speedtest_proto::responsiveness::Responsiveness> {
        responsiveness(std::iter::once(&self.0))
    }
}
