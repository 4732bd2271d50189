// SPDX-License-Identifier: Apache-2.0
//! The thread that keeps records, spools them, replays the spool and forgets addresses.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::spool::Spool;
use super::{Record, Refusal, Store};
use crate::log::{unix_s, Logger};
use crate::shared::Counters;

/// Kept in one transaction.
const MOST_AT_ONCE: usize = 256;
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(30);
const FORGET_EVERY: Duration = Duration::from_secs(3600);
const DAY_S: f64 = 86_400.0;

pub enum Message {
    Keep(Box<Record>),
    Stop,
}

pub struct Writer {
    store: Box<dyn Store>,
    spool: Option<Spool>,
    inbox: Receiver<Message>,
    keep_days: Option<u32>,
    log: Logger,
    counters: Arc<Counters>,
    /// Not before then is the store asked again; none while it works.
    retry: Option<(Instant, Duration)>,
    forget_at: Instant,
}

impl Writer {
    pub fn new(
        store: Box<dyn Store>,
        spool: Option<Spool>,
        inbox: Receiver<Message>,
        keep_days: Option<u32>,
        log: Logger,
        counters: Arc<Counters>,
    ) -> Writer {
        let now = Instant::now();
        let writer =
            Writer { store, spool, inbox, keep_days, log, counters, retry: None, forget_at: now };
        writer.count_spool();
        writer
    }

    /// Until it is told to stop; what is in the queue by then is kept.
    pub fn run(mut self) {
        loop {
            self.catch_up();
            let (batch, stop) = self.next_batch();
            if !batch.is_empty() {
                self.keep(batch);
            }
            if stop {
                return;
            }
        }
    }

    fn next_batch(&mut self) -> (Vec<Record>, bool) {
        let mut batch = Vec::new();
        let wake = self.retry.map_or(self.forget_at, |(at, _)| at.min(self.forget_at));
        let mut next = match self.inbox.recv_timeout(wake.saturating_duration_since(Instant::now()))
        {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Message::Stop),
        };
        while let Some(message) = next {
            match message {
                Message::Keep(record) => batch.push(*record),
                Message::Stop => return (batch, true),
            }
            if batch.len() == MOST_AT_ONCE {
                break;
            }
            next = self.inbox.try_recv().ok();
        }
        (batch, false)
    }

    /// What is due: replay the spool, forget addresses.
    fn catch_up(&mut self) {
        if self.retry.is_none_or(|(at, _)| Instant::now() >= at) {
            self.replay();
        }
        if Instant::now() >= self.forget_at {
            self.forget();
        }
    }

    fn keep(&mut self, batch: Vec<Record>) {
        let spooled = self.spool.as_ref().is_some_and(|spool| !spool.is_empty());
        // A store without a spool is asked each time; nothing else could take the records.
        if self.spool.is_none() || (self.retry.is_none() && !spooled) {
            match self.insert(&batch) {
                Ok(()) => return,
                Err(why) if self.spool.is_none() => {
                    return batch.iter().for_each(|record| self.give_up(record, &why));
                }
                Err(why) => self.postpone(&why),
            }
        }
        self.put_aside(&batch);
    }

    /// All or none; a record that the store can never hold is logged, and the others kept.
    fn insert(&mut self, batch: &[Record]) -> Result<(), String> {
        match self.store.insert(batch) {
            Ok(()) => {
                Counters::add(&self.counters.results_kept, batch.len() as u64);
                Ok(())
            }
            Err(Refusal::Later(why)) => Err(why),
            Err(Refusal::Never(why)) => {
                if let [record] = batch {
                    self.give_up(record, &why);
                    return Ok(());
                }
                batch.chunks(1).try_for_each(|one| self.insert(one))
            }
        }
    }

    fn postpone(&mut self, why: &str) {
        let wait = self.retry.map_or(FIRST_RETRY, |(_, wait)| (wait * 2).min(LAST_RETRY));
        if self.retry.is_none() {
            let fields = json!({"error": why});
            self.log.warn("the database does not take results, they go to the spool", fields);
        }
        self.retry = Some((Instant::now() + wait, wait));
    }

    fn put_aside(&mut self, batch: &[Record]) {
        let Some(spool) = &mut self.spool else { return };
        match spool.append(batch) {
            Ok(()) => self.count_spool(),
            Err(error) => {
                let why = format!("the spool: {error}");
                batch.iter().for_each(|record| self.give_up(record, &why));
            }
        }
    }

    fn count_spool(&self) {
        let waiting = self.spool.as_ref().map_or(0, Spool::waiting);
        self.counters.results_spooled.store(waiting, Ordering::Relaxed);
    }

    fn give_up(&self, record: &Record, why: &str) {
        Counters::add(&self.counters.results_unwritten, 1);
        let fields = json!({"error": why, "result": record.to_json()});
        self.log.warn("a result could not be written", fields);
    }

    /// Moves the spool into the store.
    fn replay(&mut self) {
        let mut replayed = 0;
        while self.spool.as_ref().is_some_and(|spool| !spool.is_empty()) {
            match self.replay_some() {
                Ok(count) => replayed += count,
                Err(why) => return self.postpone(&why),
            }
        }
        self.retry = None;
        self.count_spool();
        if replayed > 0 {
            self.log.info("the database takes results again", json!({"replayed": replayed}));
            // Among them may be addresses that are too old by now.
            self.forget_at = Instant::now();
        }
    }

    fn replay_some(&mut self) -> Result<usize, String> {
        let failed = |error: std::io::Error| format!("the spool: {error}");
        let Some(spool) = &self.spool else { return Ok(0) };
        let chunk = spool.read(MOST_AT_ONCE).map_err(failed)?;
        for line in &chunk.broken {
            self.log.warn("a line of the spool is no result", json!({"line": line}));
        }
        self.insert(&chunk.records)?;
        if let Some(spool) = &mut self.spool {
            spool.done(&chunk).map_err(failed)?;
        }
        self.count_spool();
        Ok(chunk.records.len())
    }

    fn forget(&mut self) {
        self.forget_at = Instant::now() + FORGET_EVERY;
        let Some(days) = self.keep_days else { return };
        match self.store.forget_clients(unix_s() - f64::from(days) * DAY_S) {
            Ok(0) => {}
            Ok(count) => self.log.info("client addresses dropped", json!({"results": count})),
            Err(Refusal::Later(why) | Refusal::Never(why)) => {
                self.log.warn("client addresses could not be dropped", json!({"error": why}));
                self.forget_at = Instant::now() + LAST_RETRY;
            }
        }
    }
}
