// SPDX-License-Identifier: Apache-2.0
//! Tests over HTTP: ndt7 and LibreSpeed, clear or TLS, each stream a connection of its own.
//!
//! [`dial`] connects, [`ndt7`] and [`librespeed`] run a test on a connection, [`trust`] loads the
//! trusted certificates, [`verdict`] gets the server's verdict by [`fetch`].

mod dial;
mod fetch;
mod librespeed;
mod ndt7;
pub mod trust;
mod verdict;

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{self, Sender};
use std::sync::Arc;
use std::time::{Duration, Instant};

use speedtest_net::bulk::HOT;
use speedtest_net::options::Options;
use speedtest_net::reactor::Lanes;
use speedtest_net::sys;

use super::report::{Outcome, Way};
use super::{deadline, run_lanes, Args, Protocol};
use dial::Dial;
use trust::Trust;
use verdict::{verdicts, Tested};

/// Time limit for the server's first answer.
const PATIENCE: Duration = Duration::from_secs(10);

fn no_answer(patience: Duration) -> String {
    format!("no answer from the server in {} s", patience.as_secs())
}

/// The server and its protocol.
pub struct Target {
    pub protocol: Protocol,
    /// Server as the user wrote it, with the port.
    pub authority: String,
    pub address: SocketAddr,
    pub trust: Option<Trust>,
    pub options: Options,
}

/// Task of one connection.
#[derive(Clone)]
pub struct Job {
    pub target: Arc<Target>,
    /// Index of the client in this process, and its ID on the server.
    pub client: usize,
    pub id: String,
    pub server_sends: bool,
    pub bytes: Option<u64>,
    pub seconds: u32,
    pub report: Sender<Done>,
}

/// Outcome of all connections, once the last one has ended.
struct Ended {
    all: Vec<Done>,
    at: Instant,
}

/// Outcome of one connection.
pub struct Done {
    pub client: usize,
    pub server_sends: bool,
    pub result: Result<Moved, String>,
}

/// Bytes as the receiving side counted them.
#[derive(Debug, Clone, Copy)]
pub struct Moved {
    pub bytes: u64,
    pub seconds: f64,
}

impl Job {
    pub fn tell(&self, result: Result<Moved, String>) {
        let done = Done { client: self.client, server_sends: self.server_sends, result };
        // The receiver is gone only when the whole run is cancelled.
        let _ = self.report.send(done);
    }
}

/// Run all tests at once and wait for the last one.
pub fn test(args: &Args, address: SocketAddr, trust: Option<Trust>) -> io::Result<Vec<Outcome>> {
    sys::raise_file_limit()?;
    std::sync::LazyLock::force(&HOT);
    let target = Arc::new(target(args, address, trust));
    let (report, done) = mpsc::channel();
    let ways = ways(args);
    let ids = (0..args.clients).map(|_| random_id()).collect::<io::Result<Vec<_>>>()?;
    let mut jobs = Vec::new();
    for (client, id) in ids.iter().enumerate() {
        for server_sends in ways.iter().copied() {
            for _ in 0..args.parallel {
                let (target, id, report) = (Arc::clone(&target), id.clone(), report.clone());
                let (bytes, seconds) = (share(args, jobs.len()), args.time);
                jobs.push(Job { target, client, id, server_sends, bytes, seconds, report });
            }
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let lanes = Lanes::new(cores.min(jobs.len()))?;
    let count = jobs.len();
    for (number, job) in jobs.into_iter().enumerate() {
        lanes.adopt(number % lanes.count(), Box::new(Dial::begin(job)?));
    }
    let until = deadline(args);
    let ended = run_lanes(&lanes, || {
        let mut all = Vec::new();
        while all.len() < count {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(one) = done.recv_timeout(left) else { break };
            all.push(one);
        }
        all
    })?;
    let ended = Ended { all: ended, at: Instant::now() };
    Ok(ids.iter().enumerate().map(|(at, id)| outcome(&target, args, at, id, &ended)).collect())
}

fn target(args: &Args, address: SocketAddr, trust: Option<Trust>) -> Target {
    Target {
        protocol: args.protocol,
        authority: args.place(),
        address,
        trust,
        options: Options {
            congestion: args.congestion.clone(),
            window_bytes: args.window,
            mss: args.mss,
            ..Options::default()
        },
    }
}

/// Return for each tested direction whether the server sends.
fn ways(args: &Args) -> &'static [bool] {
    match (args.reverse, args.bidirectional) {
        (true, _) => &[true],
        (_, true) => &[false, true],
        _ => &[false],
    }
}

/// Return the tested directions, each with the transfers that the server counts at least.
fn tested(args: &Args) -> Vec<Tested> {
    let streams = u64::from(args.parallel);
    // A stream without a share of the amount may have no body.
    let transfers = args.bytes.map_or(streams, |all| all.min(streams));
    let direction = |server_sends: &bool| Tested { server_sends: *server_sends, transfers };
    ways(args).iter().map(direction).collect()
}

/// Return this stream's share of an amount that all streams of a direction move together.
fn share(args: &Args, number: usize) -> Option<u64> {
    let (all, streams) = (args.bytes?, u64::from(args.parallel));
    Some(all / streams + u64::from((number as u64 % streams) < all % streams))
}

fn random_id() -> io::Result<String> {
    let mut random = [0; 12];
    sys::random(&mut random)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Make one client's outcome: all its connections together, and the server's result.
fn outcome(target: &Target, args: &Args, client: usize, id: &str, ended: &Ended) -> Outcome {
    let mine = || ended.all.iter().filter(|done| done.client == client);
    let streams = args.parallel as usize * if args.bidirectional { 2 } else { 1 };
    if let Some(why) = mine().find_map(|done| done.result.as_ref().err()) {
        return Outcome::failed(why.clone());
    }
    if mine().count() < streams {
        return Outcome::failed("the server did not end the test in time".into());
    }
    let ways = [false, true].into_iter().filter_map(|server_sends| {
        let these = mine().filter(|done| done.server_sends == server_sends);
        let moved: Vec<Moved> = these.filter_map(|done| done.result.clone().ok()).collect();
        (!moved.is_empty()).then(|| Way {
            server_sends,
            bytes: moved.iter().map(|one| one.bytes).sum(),
            seconds: moved.iter().map(|one| one.seconds).fold(0.0, f64::max),
            retransmits: None,
        })
    });
    Outcome::of_ways(ways.collect(), verdicts(target, id, &tested(args), ended.at))
}
