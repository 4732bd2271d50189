// SPDX-License-Identifier: Apache-2.0
//! Thread that stores records, spools them, replays the spool and removes addresses.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::spool::Spool;
use super::{Record, Refusal, Store};
use crate::config::ResultsTo;
use crate::counters::Counters;
use crate::log::{unix_s, Logger};

/// Most records in one transaction.
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
    /// Limit of store and spool, in bytes.
    max_bytes: u64,
    log: Logger,
    counters: Arc<Counters>,
    /// Time and pause before the store is tried again; None while it works.
    retry: Option<(Instant, Duration)>,
    forget_at: Instant,
}

impl Writer {
    pub fn new(
        store: Box<dyn Store>,
        spool: Option<Spool>,
        inbox: Receiver<Message>,
        config: &ResultsTo,
        log: Logger,
        counters: Arc<Counters>,
    ) -> Writer {
        let now = Instant::now();
        let writer = Writer {
            store,
            spool,
            inbox,
            keep_days: config.keep_addresses_days,
            max_bytes: config.max_bytes(),
            log,
            counters,
            retry: None,
            forget_at: now,
        };
        writer.count_files();
        writer
    }

    /// Run until the stop message; everything queued by then is kept.
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

    /// Do what is due: replay the spool, remove addresses.
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
        // A store without a spool is tried each time; nothing else could take the records.
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

    /// Return the records that fit into a file of this size; drop and count the others.
    fn fitting<'a>(&self, batch: &'a [Record], bytes: u64, file: &str) -> &'a [Record] {
        let mut left = self.max_bytes.saturating_sub(bytes);
        let fits = |record: &Record| {
            let takes = record.to_json().to_string().len() as u64 + 1;
            let fits = takes <= left;
            left = left.saturating_sub(takes);
            fits
        };
        let count = if self.max_bytes == u64::MAX {
            batch.len()
        } else {
            batch.iter().map(fits).take_while(|fits| *fits).count()
        };
        let (fitting, rest) = batch.split_at(count);
        let why = format!(
            "{file} has reached results.max_bytes: raise it, or move the file away and restart"
        );
        rest.iter().for_each(|record| self.give_up(record, &why));
        fitting
    }

    /// Insert what the store has room for, all or none; drop a record that it can never hold.
    fn insert(&mut self, batch: &[Record]) -> Result<(), String> {
        let batch = self.fitting(batch, self.store.bytes(), "the store");
        if batch.is_empty() {
            return Ok(());
        }
        match self.store.insert(batch) {
            Ok(()) => {
                Counters::add(&self.counters.results_kept, batch.len() as u64);
                self.count_files();
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
        let bytes = self.spool.as_ref().map_or(0, Spool::bytes);
        let batch = self.fitting(batch, bytes, "the spool");
        let Some(spool) = &mut self.spool else { return };
        match spool.append(batch) {
            Ok(()) => self.count_files(),
            Err(error) => {
                let why = format!("the spool: {error}");
                batch.iter().for_each(|record| self.give_up(record, &why));
            }
        }
    }

    fn count_files(&self) {
        let spool = |of: fn(&Spool) -> u64| self.spool.as_ref().map_or(0, of);
        let counters = &self.counters;
        counters.results_spooled.store(spool(Spool::waiting), Ordering::Relaxed);
        counters.results_spool_bytes.store(spool(Spool::bytes), Ordering::Relaxed);
        counters.results_bytes.store(self.store.bytes(), Ordering::Relaxed);
    }

    fn give_up(&self, record: &Record, why: &str) {
        Counters::add(&self.counters.results_unwritten, 1);
        let fields = json!({"error": why, "number": record.number});
        self.log.warn("a result could not be written", fields);
    }

    /// Move the spool into the store.
    fn replay(&mut self) {
        let mut replayed = 0;
        while self.spool.as_ref().is_some_and(|spool| !spool.is_empty()) {
            match self.replay_some() {
                Ok(count) => replayed += count,
                Err(why) => return self.postpone(&why),
            }
        }
        self.retry = None;
        self.count_files();
        if replayed > 0 {
            self.log.info("the database takes results again", json!({"replayed": replayed}));
            // Addresses among them may be too old by now.
            self.forget_at = Instant::now();
        }
    }

    fn replay_some(&mut self) -> Result<usize, String> {
        let failed = |error: std::io::Error| format!("the spool: {error}");
        let Some(spool) = &self.spool else { return Ok(0) };
        let chunk = spool.read(MOST_AT_ONCE).map_err(failed)?;
        for line in &chunk.broken {
            self.log.warn("a line of the spool is not a result", json!({"bytes": line.len()}));
        }
        self.insert(&chunk.records)?;
        if let Some(spool) = &mut self.spool {
            spool.done(&chunk).map_err(failed)?;
        }
        self.count_files();
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::mpsc::sync_channel;

    use super::super::{jsonl::JsonLines, sample};
    use super::*;
    use crate::config::LogFormat;

    #[test]
    fn a_file_that_has_reached_its_limit_grows_no_more_and_what_is_lost_is_counted() {
        let path: PathBuf =
            std::env::temp_dir().join(format!("limited-{}.jsonl", std::process::id()));
        let line = sample(1, 1.0).to_json().to_string().len() as u64 + 1;
        let config = ResultsTo { max_bytes: Some(line * 3 + 1), ..ResultsTo::default() };
        let (sender, inbox) = sync_channel(16);
        let (store, counters) = (JsonLines::open(&path).unwrap(), Arc::<Counters>::default());
        let log = Logger::new(LogFormat::Text);
        let writer = Writer::new(Box::new(store), None, inbox, &config, log, Arc::clone(&counters));
        for number in 1..=5 {
            sender.send(Message::Keep(Box::new(sample(number, 1.0)))).unwrap();
        }
        sender.send(Message::Stop).unwrap();
        writer.run();
        let kept = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((kept.lines().count(), kept.len() as u64), (3, line * 3));
        let get = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        assert_eq!((get(&counters.results_kept), get(&counters.results_unwritten)), (3, 2));
        assert_eq!(get(&counters.results_bytes), line * 3);
    }
}
