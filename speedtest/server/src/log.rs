// SPDX-License-Identifier: Apache-2.0
//! Structured lines on stderr: one event, its fields, nothing else.
//!
//! Event loops only put a line into a bounded [`queue`]; one thread writes. So a pipe that nobody
//! reads costs lines, which are counted, and never time. Lines of one type have a [`limit`] per
//! second.

mod limit;
mod queue;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{json, Map, Value};

use crate::config::LogFormat;
use queue::Queue;

/// Longest line in bytes. A longer one is replaced by its type and its length: records belong into
/// a store.
const MOST_LINE_BYTES: usize = 16 << 10;
/// Time to write pending lines when the server stops.
const LAST_LINES: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub struct Logger {
    format: LogFormat,
    queue: Arc<Queue>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Info,
    Warn,
}

/// Lines that were not written, since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unwritten {
    /// Lines beyond the limit of their type.
    pub suppressed: u64,
    /// Lines for which the queue was full.
    pub dropped: u64,
}

impl Logger {
    /// Make a logger; lines wait until [`Logger::start`].
    pub fn new(format: LogFormat) -> Logger {
        Logger { format, queue: Arc::default() }
    }

    /// Start to write; call it after privileges are dropped, since running threads would keep them.
    pub fn start(&self) -> std::io::Result<()> {
        let log = self.clone();
        self.queue.start(move |what| log.summary(what))
    }

    pub fn info(&self, event: &'static str, fields: Value) {
        self.write(Level::Info, event, fields);
    }

    pub fn warn(&self, event: &'static str, fields: Value) {
        self.write(Level::Warn, event, fields);
    }

    pub fn unwritten(&self) -> Unwritten {
        self.queue.unwritten()
    }

    /// Write pending lines, for at most 2 s.
    pub fn stop(&self) {
        self.queue.stop(LAST_LINES);
    }

    fn write(&self, level: Level, event: &'static str, fields: Value) {
        if self.queue.admits(event, Instant::now()) {
            self.queue.put(line(self.format, level, event, fields, unix_s()));
        }
    }

    /// Return the line that reports missing lines.
    fn summary(&self, what: queue::Missing) -> String {
        let (event, fields) = match what {
            queue::Missing::Suppressed(kind, lines) => {
                ("more suppressed", json!({"kind": kind, "lines": lines}))
            }
            queue::Missing::Dropped(lines) => ("log lines dropped", json!({"lines": lines})),
        };
        line(self.format, Level::Warn, event, fields, unix_s())
    }
}

/// Return seconds since 1970.
pub fn unix_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

fn line(format: LogFormat, level: Level, event: &str, fields: Value, time: f64) -> String {
    let fields = match fields {
        Value::Object(fields) => fields,
        other => Map::from_iter([("detail".to_owned(), other)]),
    };
    let whole = formatted(format, level, event, fields, time);
    if whole.len() <= MOST_LINE_BYTES {
        return whole;
    }
    let left_out = Map::from_iter([("left_out_bytes".to_owned(), whole.len().into())]);
    formatted(format, level, event, left_out, time)
}

fn formatted(
    format: LogFormat,
    level: Level,
    event: &str,
    fields: Map<String, Value>,
    time: f64,
) -> String {
    let level = match level {
        Level::Info => "info",
        Level::Warn => "warn",
    };
    match format {
        LogFormat::Json => {
            let mut object = Map::new();
            object.insert("time".into(), ((time * 1000.0).round() / 1000.0).into());
            object.insert("level".into(), level.into());
            object.insert("event".into(), event.into());
            object.extend(fields);
            format!("{}\n", Value::Object(object))
        }
        LogFormat::Text => {
            let mut text = format!("{time:.3} {level} {event}");
            for (key, value) in fields {
                text.push_str(&format!(" {key}={value}"));
            }
            text.push('\n');
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_carry_every_field_on_one_line() {
        let fields = json!({"client": "::1", "note": "two\nlines"});
        let text = line(LogFormat::Text, Level::Warn, "refused", fields.clone(), 1.5);
        assert_eq!(text, "1.500 warn refused client=\"::1\" note=\"two\\nlines\"\n");
        let json = line(LogFormat::Json, Level::Info, "refused", fields, 1.2345);
        let read: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["time"].as_f64(), Some(1.235), "milliseconds");
        assert_eq!(
            (read["level"].as_str(), read["note"].as_str()),
            (Some("info"), Some("two\nlines"))
        );
        assert_eq!(json.matches('\n').count(), 1);
    }

    #[test]
    fn a_line_as_long_as_a_record_is_replaced_by_its_length() {
        let fields = json!({"note": "x".repeat(MOST_LINE_BYTES)});
        let json = line(LogFormat::Json, Level::Info, "refused", fields, 1.0);
        let read: Value = serde_json::from_str(&json).unwrap();
        assert_eq!((read["event"].as_str(), &read["note"]), (Some("refused"), &Value::Null));
        assert!(read["left_out_bytes"].as_u64().unwrap() > MOST_LINE_BYTES as u64);
        assert!(json.len() < 200);
    }
}
