// SPDX-License-Identifier: Apache-2.0
//! Results as JSON lines: one object per line, appended.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::private;
use super::{Record, Refusal, Store};

#[derive(Debug)]
pub struct JsonLines {
    path: PathBuf,
    file: File,
}

impl JsonLines {
    pub fn open(path: &Path) -> io::Result<JsonLines> {
        Ok(JsonLines { path: path.to_owned(), file: private::appending().open(path)? })
    }

    /// Write a new file without the addresses next to the old one, then replace it.
    fn without_clients(&mut self, before: f64) -> io::Result<u64> {
        let due = |line: &str| {
            let record = Record::of_json(line)?;
            (record.client.is_some() && record.time < before).then_some(record)
        };
        let lines = || Ok::<_, io::Error>(BufReader::new(File::open(&self.path)?).lines());
        let mut count = 0;
        for line in lines()? {
            count += u64::from(due(&line?).is_some());
        }
        if count == 0 {
            return Ok(0);
        }
        let beside = PathBuf::from(format!("{}.new", self.path.display()));
        let file = private::appending().open(&beside)?;
        // Left by a run that was interrupted.
        file.set_len(0)?;
        let mut writer = BufWriter::new(file);
        for line in lines()? {
            let line = line?;
            match due(&line) {
                Some(record) => {
                    writeln!(writer, "{}", Record { client: None, ..record }.to_json())?;
                }
                None => writeln!(writer, "{line}")?,
            }
        }
        writer.into_inner()?.sync_all()?;
        fs::set_permissions(&beside, fs::metadata(&self.path)?.permissions())?;
        fs::rename(&beside, &self.path)?;
        self.file = private::appending().open(&self.path)?;
        Ok(count)
    }
}

/// Append whole lines or nothing: half a line would spoil the next one.
pub fn append(file: &mut File, records: &[Record]) -> io::Result<()> {
    let end = file.metadata()?.len();
    let lines: String = records.iter().map(|record| format!("{}\n", record.to_json())).collect();
    let written = file.write_all(lines.as_bytes());
    if written.is_err() && file.metadata()?.len() > end {
        file.set_len(end)?;
    }
    written
}

impl Store for JsonLines {
    fn insert(&mut self, records: &[Record]) -> Result<(), Refusal> {
        append(&mut self.file, records).map_err(|error| Refusal::Later(error.to_string()))
    }

    fn bytes(&self) -> u64 {
        self.file.metadata().map_or(0, |about| about.len())
    }

    fn forget_clients(&mut self, before: f64) -> Result<u64, Refusal> {
        // A device or pipe holds nothing to remove.
        if !self.file.metadata().is_ok_and(|about| about.is_file()) {
            return Ok(0);
        }
        self.without_clients(before).map_err(|error| Refusal::Later(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn records_are_appended_and_old_addresses_forgotten() {
        let path = std::env::temp_dir().join(format!("results-{}.jsonl", std::process::id()));
        JsonLines::open(&path).unwrap().insert(&[sample(1, 10.0)]).unwrap();
        let mut store = JsonLines::open(&path).unwrap();
        store.insert(&[sample(2, 20.0)]).unwrap();
        assert_eq!(
            (store.forget_clients(15.0).unwrap(), store.forget_clients(15.0).unwrap()),
            (1, 0)
        );
        store.insert(&[sample(3, 30.0)]).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let kept: Vec<_> = text.lines().map(|line| Record::of_json(line).unwrap()).collect();
        assert_eq!(kept[0], Record { client: None, ..sample(1, 10.0) });
        assert_eq!(kept[1..], [sample(2, 20.0), sample(3, 30.0)]);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_full_disk_is_an_error_and_not_a_loss_in_silence() {
        let mut store = JsonLines::open(Path::new("/dev/full")).unwrap();
        assert!(store.insert(&[sample(1, 1.0)]).is_err());
    }
}
