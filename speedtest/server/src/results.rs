// SPDX-License-Identifier: Apache-2.0
//! Keeps results as JSON lines; what the disk does not take goes to the log, so that nothing is lost.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// A file of one JSON object a line; without a file nothing is kept.
#[derive(Debug, Default)]
pub struct Results {
    file: Option<Mutex<File>>,
}

impl Results {
    pub fn open(path: Option<&Path>) -> io::Result<Results> {
        let Some(path) = path else { return Ok(Results::default()) };
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Results { file: Some(Mutex::new(file)) })
    }

    /// Appends a record. Says whether there is a file to append to.
    pub fn keep(&self, record: &Value) -> io::Result<bool> {
        let Some(file) = &self.file else { return Ok(false) };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let end = file.metadata()?.len();
        let written = file.write_all(format!("{record}\n").as_bytes());
        if written.is_err() && file.metadata()?.len() > end {
            // Half a line would spoil the next one.
            file.set_len(end)?;
        }
        written.map(|()| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn records_are_appended_one_a_line() {
        let path = std::env::temp_dir().join(format!("results-{}.jsonl", std::process::id()));
        for number in 0..2 {
            let results = Results::open(Some(&path)).unwrap();
            assert!(results.keep(&json!({"number": number})).unwrap());
        }
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, "{\"number\":0}\n{\"number\":1}\n");
        assert!(!Results::open(None).unwrap().keep(&json!({})).unwrap());
    }

    #[test]
    fn a_full_disk_is_an_error_and_not_a_loss_in_silence() {
        let results = Results::open(Some(Path::new("/dev/full"))).unwrap();
        assert!(results.keep(&json!({})).is_err());
    }
}
