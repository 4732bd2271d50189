// SPDX-License-Identifier: Apache-2.0
//! Measure one direction, or both at once: load grows every second while probes are sent, until
//! goodput and then responsiveness are stable, or the time is over.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use speedtest_net::sys;
use speedtest_proto::responsiveness::{
    pairs_per_s, Decision, Interval, Meter, Probes, MOST_CONNECTIONS,
};
use tokio::task::JoinSet;
use tokio::time::{interval_at, sleep_until, Instant, MissedTickBehavior};

use super::connect::{probe, probe_foreign, Foreign, Place};
use super::load::{self, Load};
use super::Way;

const INTERVAL: Duration = Duration::from_secs(1);

/// Times of probes, in the types of the method.
#[derive(Default)]
pub struct Timings(pub Probes);

impl Timings {
    pub fn foreign(&mut self, times: Foreign) {
        self.0.tcp_ms.push(ms(times.tcp));
        self.0.tls_ms.push(ms(times.tls));
        self.0.http_ms.push(ms(times.http));
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Result of one direction.
pub struct Direction {
    pub ways: Vec<Way>,
    pub meter: Meter,
    pub down_bytes: u64,
    pub up_bytes: u64,
    pub connections: usize,
}

enum Answer {
    Foreign(Foreign),
    Loaded(Duration),
}

/// Running measurement; everything ends with it.
struct Run<'a> {
    ways: &'a [Way],
    places: [&'a Place; 3],
    load: Arc<Load>,
    /// Each ends only with an error.
    loads: JoinSet<io::Error>,
    probes: JoinSet<io::Result<Answer>>,
    /// Connections in each direction.
    connections: usize,
}

/// Measure with this load; `places` are those of the small, the large and the upload.
pub async fn direction(ways: &[Way], places: [&Place; 3], seconds: u32) -> io::Result<Direction> {
    let mut run = Run {
        ways,
        places,
        load: Arc::default(),
        loads: JoinSet::new(),
        probes: JoinSet::new(),
        connections: 0,
    };
    let mut meter = Meter::new(seconds as usize);
    run.add_load();
    let begin = Instant::now();
    let mut ticks = interval_at(begin + INTERVAL, INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut since, mut bytes, mut timings) = (begin, 0, Timings::default());
    let mut next_probe = begin;
    loop {
        tokio::select! {
            now = ticks.tick() => {
                let all = run.moved();
                let probes = std::mem::take(&mut timings.0);
                let seconds = (now - since).as_secs_f64();
                let decision = meter.push(Interval { seconds, bytes: all - bytes, probes });
                (since, bytes) = (now, all);
                if decision == Decision::Done {
                    break;
                }
                run.add_load();
            }
            () = sleep_until(next_probe) => {
                run.send_probes()?;
                let step = Duration::from_secs_f64(1.0 / pairs_per_s(meter.goodput_bps()));
                next_probe = next_probe.max(Instant::now() - step) + step;
            }
            Some(ended) = run.loads.join_next() => {
                return Err(ended.unwrap_or_else(io::Error::other));
            }
            Some(answer) = run.probes.join_next() => match answer.map_err(io::Error::other)?? {
                Answer::Foreign(times) => timings.foreign(times),
                Answer::Loaded(time) => timings.0.loaded_ms.push(ms(time)),
            },
        }
    }
    run.finish(meter)
}

fn during(what: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what} connection: {error}"))
}

impl Run<'_> {
    fn add_load(&mut self) {
        if self.connections < MOST_CONNECTIONS {
            self.connections += 1;
            for way in self.ways {
                let place = self.places[if *way == Way::Down { 1 } else { 2 }];
                load::add(&mut self.loads, &self.load, *way, place);
            }
        }
    }

    fn moved(&self) -> u64 {
        self.ways.iter().map(|way| self.load.moved(*way)).sum()
    }

    /// Send one probe of each type. Without load no probe can be sent on it.
    fn send_probes(&mut self) -> io::Result<()> {
        let open = self.load.open();
        let Some(count) = u32::try_from(open.len()).ok().filter(|count| *count > 0) else {
            return Ok(());
        };
        let mut random = [0; 4];
        sys::random(&mut random)?;
        let chosen = open[(u32::from_ne_bytes(random) % count) as usize].clone();
        let small = self.places[0].clone();
        self.probes.spawn({
            let small = small.clone();
            async move {
                let times = probe_foreign(&small).await;
                times.map(Answer::Foreign).map_err(|error| during("probe on its own", error))
            }
        });
        // An error that breaks a connection may show in its probe before it shows in its load.
        self.probes.spawn(async move {
            let time = probe(chosen, &small).await;
            time.map(Answer::Loaded).map_err(|error| during("probe on a load-generating", error))
        });
        Ok(())
    }

    fn finish(self, meter: Meter) -> io::Result<Direction> {
        if meter.responsiveness().is_none() {
            let asked = self.probes.len();
            let why = format!("no probe of either kind was answered; {asked} still wait");
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        Ok(Direction {
            ways: self.ways.to_vec(),
            meter,
            down_bytes: self.load.moved(Way::Down),
            up_bytes: self.load.moved(Way::Up),
            connections: self.connections * self.ways.len(),
        })
    }
}
