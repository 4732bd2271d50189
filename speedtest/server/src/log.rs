// SPDX-License-Identifier: Apache-2.0
//! Structured lines on stderr: one event, its fields, nothing else.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use crate::config::LogFormat;

#[derive(Debug, Clone, Copy)]
pub struct Logger {
    format: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Info,
    Warn,
}

impl Logger {
    pub fn new(format: LogFormat) -> Logger {
        Logger { format }
    }

    pub fn info(&self, event: &str, fields: Value) {
        self.write(Level::Info, event, fields);
    }

    pub fn warn(&self, event: &str, fields: Value) {
        self.write(Level::Warn, event, fields);
    }

    fn write(&self, level: Level, event: &str, fields: Value) {
        let line = line(self.format, level, event, fields, unix_s());
        // Nobody is left to be told when stderr is gone.
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    }
}

/// Seconds since 1970.
pub fn unix_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

fn line(format: LogFormat, level: Level, event: &str, fields: Value, time: f64) -> String {
    let level = match level {
        Level::Info => "info",
        Level::Warn => "warn",
    };
    let fields = match fields {
        Value::Object(fields) => fields,
        other => Map::from_iter([("detail".to_owned(), other)]),
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
    use serde_json::json;

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
}
