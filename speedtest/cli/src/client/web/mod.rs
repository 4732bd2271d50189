// SPDX-License-Identifier: Apache-2.0
//! Tests over HTTP: ndt7 and LibreSpeed, clear or TLS, each stream a connection of its own.
//!
//! [`dial`] connects, [`ndt7`] and [`librespeed`] run a test on a connection, [`trust`] loads the
//! trusted certificates, [`fetch`] gets the server's verdict.

mod dial;
mod fetch;
mod librespeed;
mod ndt7;
pub mod trust;

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{self, Sender};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use speedtest_net::bulk::HOT;
use speedtest_net::options::Options;
use speedtest_net::reactor::Lanes;
use speedtest_net::sys;

use super::report::{Outcome, Way};
use super::{deadline, run_lanes, Args, Protocol};
use dial::Dial;
use trust::Trust;

/// Time limit for the server's first answer.
const PATIENCE: Duration = Duration::from_secs(10);

fn no_answer(patience: Duration) -> String {
    format!("no answer from the server in {} s", patience.as_secs())
}

/// Time after the test in which the server may notice its end, and the interval to poll it.
const NOTICE: Duration = Duration::from_secs(1);
const ASK_EVERY: Duration = Duration::from_millis(50);

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
    let ways: &[bool] = match (args.reverse, args.bidirectional) {
        (true, _) => &[true],
        (_, true) => &[false, true],
        _ => &[false],
    };
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
    Outcome::of_ways(ways.collect(), verdicts(target, id, ended.at + NOTICE))
}

/// Fetch the server's result of the test. Until the server has noticed the end, the result has no
/// direction, and is fetched again. A server that does not answer in JSON has no result.
fn result_of(mut ask: impl FnMut() -> io::Result<String>, until: Instant) -> Value {
    loop {
        let answer: Option<Value> = ask().ok().and_then(|text| serde_json::from_str(&text).ok());
        let Some(result) = answer else { return Value::Null };
        let knows = ["upload", "download"].iter().any(|way| result[*way].is_object());
        if knows || Instant::now() + ASK_EVERY > until {
            return result;
        }
        std::thread::sleep(ASK_EVERY);
    }
}

/// Fetch the server's result, under the names that its iperf3 side uses. Other servers have none.
fn verdicts(target: &Target, id: &str, until: Instant) -> Value {
    let result = result_of(|| fetch::get(target, &format!("/verdict?id={id}")), until);
    if result.is_null() {
        return result;
    }
    let directions: Vec<Value> = [("upload", "receives"), ("download", "sends")]
        .into_iter()
        .filter(|(name, _)| result[*name].is_object())
        .map(|(name, side)| {
            let mut direction = result[name].clone();
            direction["server"] = side.into();
            direction
        })
        .collect();
    json!({"directions": directions})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answers: &[Result<&str, ()>]) -> (Value, usize) {
        let mut count = 0;
        let answer = || {
            let answer = answers[count.min(answers.len() - 1)];
            count += 1;
            answer.map(str::to_owned).map_err(|()| io::ErrorKind::NotFound.into())
        };
        let result = result_of(answer, Instant::now() + 5 * ASK_EVERY);
        (result, count)
    }

    #[test]
    fn a_server_that_has_not_noticed_the_end_is_asked_again() {
        let late = r#"{"download": {"bytes": 1}, "upload": null}"#;
        let nulls = r#"{"download": null, "upload": null}"#;
        let (result, count) = asked(&[Ok("{}"), Ok(nulls), Ok(late), Ok("{}")]);
        assert_eq!((result["download"]["bytes"].as_u64(), count), (Some(1), 3));
        let (result, count) = asked(&[Ok("{}")]);
        assert!(result == json!({}) && (2..=6).contains(&count), "{count}");
    }

    #[test]
    fn a_server_that_does_not_know_verdicts_is_asked_once() {
        assert_eq!(asked(&[Err(())]), (Value::Null, 1));
        assert_eq!(asked(&[Ok("<html>")]), (Value::Null, 1));
    }
}
