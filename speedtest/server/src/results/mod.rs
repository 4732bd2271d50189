// SPDX-License-Identifier: Apache-2.0
//! Stores results: JSON lines, SQLite or PostgreSQL.
//!
//! The loops only put a record into a bounded queue. One thread, [`writer`], takes it from there,
//! so a slow disk or a dead database delays no test. Records that a database does not take wait in
//! a [`spool`] file and are replayed later. Records that no file takes are counted and their
//! numbers logged. The protocols know only the [`Keeper`].

mod jsonl;
mod keeper;
mod postgresql;
mod private;
mod spool;
mod sqlite;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{sync_channel, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::config::{ConfigError, ResultsTo};
use crate::counters::Counters;
use crate::log::Logger;
use writer::{Message, Writer};

pub use keeper::Keeper;

/// Most records that wait for the writer; some seconds of a database that does not answer.
const QUEUE: usize = 1024;

/// One result. `fields` are the protocol's own.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Run of the server; with the number it identifies a record that was kept already.
    pub run: String,
    pub number: u64,
    /// Seconds since 1970.
    pub time: f64,
    /// Address and port; None once it is removed.
    pub client: Option<String>,
    pub fields: Map<String, Value>,
}

impl Record {
    /// Return the JSON object of a line, address included.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("time".into(), self.time.into());
        object.insert("run".into(), self.run.clone().into());
        object.insert("number".into(), self.number.into());
        object.insert("client".into(), self.client.clone().into());
        object.extend(self.fields.clone());
        Value::Object(object)
    }

    /// Read such a line; None if it is not one.
    pub fn of_json(line: &str) -> Option<Record> {
        let Value::Object(mut fields) = serde_json::from_str(line).ok()? else { return None };
        Some(Record {
            time: fields.remove("time")?.as_f64()?,
            run: fields.remove("run")?.as_str()?.to_owned(),
            number: fields.remove("number")?.as_u64()?,
            client: fields.remove("client")?.as_str().map(str::to_owned),
            fields,
        })
    }

    pub fn protocol(&self) -> &str {
        self.fields.get("protocol").and_then(Value::as_str).unwrap_or_default()
    }
}

/// Convert a duration as in records: whole microseconds, at least one, so that a rate is defined.
pub fn seconds(time: Duration) -> f64 {
    time.as_micros().max(1) as f64 / 1e6
}

/// Reason why a store rejected records.
#[derive(Debug)]
pub enum Refusal {
    /// Not now; a retry may succeed.
    Later(String),
    /// Never: a record holds something that the store cannot.
    Never(String),
}

/// Final place of records. Both calls may block for some seconds, never without limit.
trait Store: Send {
    /// Store all of them or none; records that are stored already are not an error.
    fn insert(&mut self, records: &[Record]) -> Result<(), Refusal>;
    /// Return the space that it takes on this host's disk; 0 for a remote one.
    fn bytes(&self) -> u64;
    /// Remove the client addresses of records older than this; return how many.
    fn forget_clients(&mut self, before: f64) -> Result<u64, Refusal>;
}

/// The writer's queue is full.
#[derive(Debug)]
pub struct Behind;

/// Sending side of the writer's queue.
#[derive(Debug, Default)]
pub struct Results {
    queue: Option<SyncSender<Message>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Results {
    /// Open the store and start the writer; call it after privileges are dropped.
    pub fn start(
        config: &ResultsTo,
        log: &Logger,
        counters: Arc<Counters>,
    ) -> Result<Results, ConfigError> {
        let Some((store, spool)) = open(config, log)? else { return Ok(Results::default()) };
        let (sender, inbox) = sync_channel(QUEUE);
        let writer = Writer::new(store, spool, inbox, config, log.clone(), counters);
        let thread = std::thread::Builder::new()
            .name("results".into())
            .spawn(|| writer.run())
            .map_err(|error| fault("results", &error))?;
        Ok(Results { queue: Some(sender), writer: Mutex::new(Some(thread)) })
    }

    /// Return whether there is a store.
    pub fn wanted(&self) -> bool {
        self.queue.is_some()
    }

    /// Hand a record to the writer without blocking; it is an error when the queue is full.
    pub fn keep(&self, record: Record) -> Result<(), Behind> {
        let Some(queue) = &self.queue else { return Ok(()) };
        queue.try_send(Message::Keep(Box::new(record))).map_err(|_full| Behind)
    }

    /// Wait until everything in the queue is kept.
    pub fn stop(&self) {
        let Some(queue) = &self.queue else { return };
        // A writer that has ended needs no wait.
        let _ = queue.send(Message::Stop);
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            let _ = writer.join();
        }
    }
}

type Opened = (Box<dyn Store>, Option<spool::Spool>);

fn open(config: &ResultsTo, log: &Logger) -> Result<Option<Opened>, ConfigError> {
    let spool = |path: &Path| {
        spool::Spool::open(path).map(Some).map_err(|error| {
            let place = "results.spool";
            fault(place, &format!("{}: {error}", path.display()))
        })
    };
    if let Some(path) = &config.jsonl {
        let store = jsonl::JsonLines::open(path)
            .map_err(|error| fault("results.jsonl", &format!("{}: {error}", path.display())))?;
        return Ok(Some((Box::new(store), None)));
    }
    if let Some(path) = &config.sqlite {
        let store = sqlite::Sqlite::open(path)
            .map_err(|error| fault("results.sqlite", &format!("{}: {error}", path.display())))?;
        let beside = || PathBuf::from(format!("{}.spool", path.display()));
        let spool = spool(&config.spool.clone().unwrap_or_else(beside))?;
        return Ok(Some((Box::new(store), spool)));
    }
    if let Some(url) = &config.postgresql {
        let store = postgresql::Postgresql::open(url, config.postgresql_ca.as_deref(), log.clone())
            .map_err(|error| fault("results.postgresql", &error))?;
        let path = config.spool.as_deref().unwrap_or(Path::new(""));
        return Ok(Some((Box::new(store), spool(path)?)));
    }
    Ok(None)
}

fn fault(place: &str, error: &dyn std::fmt::Display) -> ConfigError {
    ConfigError { place: place.to_owned(), fault: error.to_string() }
}

/// Return a record for the tests of the stores.
#[cfg(test)]
fn sample(number: u64, time: f64) -> Record {
    let Value::Object(fields) = serde_json::json!({"protocol": "iperf3", "note": "a\"b"}) else {
        unreachable!()
    };
    let client = Some("192.0.2.7:4711".to_owned());
    Record { run: "r".into(), number, time, client, fields }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_time_is_not_rounded_away() {
        let kept = [0, 1_234_567, 1_234_567_890].map(|ns| seconds(Duration::from_nanos(ns)));
        assert_eq!(kept, [1e-6, 0.001_234, 1.234_567]);
    }
}
