// SPDX-License-Identifier: Apache-2.0
//! Records that wait for the database, as JSON lines in a file that survives this process.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use super::jsonl::append;
use super::{private, Record};

#[derive(Debug)]
pub struct Spool {
    file: File,
    /// End of the file, and the offset up to which it is in the database already.
    end: u64,
    done: u64,
    waiting: u64,
}

/// Some lines of the spool.
pub struct Chunk {
    pub records: Vec<Record>,
    /// Lines that are no records, left by a crash in the middle of writing.
    pub broken: Vec<String>,
    end: u64,
}

impl Spool {
    pub fn open(path: &Path) -> io::Result<Spool> {
        let file = private::appending().read(true).open(path)?;
        let end = file.metadata()?.len();
        let waiting = BufReader::new(&file).split(b'\n').count() as u64;
        Ok(Spool { file, end, done: 0, waiting })
    }

    /// Return the number of lines that are not in the database yet.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Return the size of the file.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    pub fn is_empty(&self) -> bool {
        self.done == self.end
    }

    pub fn append(&mut self, records: &[Record]) -> io::Result<()> {
        append(&mut self.file, records)?;
        // Counted before it may fail: the lines are there, and will be replayed.
        self.end = self.file.metadata()?.len();
        self.waiting += records.len() as u64;
        self.file.sync_data()
    }

    /// Return the next lines that are not done.
    pub fn read(&self, most: usize) -> io::Result<Chunk> {
        let mut reader = BufReader::new(&self.file);
        reader.seek(SeekFrom::Start(self.done))?;
        let mut chunk = Chunk { records: Vec::new(), broken: Vec::new(), end: self.done };
        let mut line = Vec::new();
        while chunk.records.len() + chunk.broken.len() < most {
            line.clear();
            let count = reader.read_until(b'\n', &mut line)?;
            if count == 0 {
                break;
            }
            chunk.end += count as u64;
            let text = String::from_utf8_lossy(&line);
            match Record::of_json(&text) {
                Some(record) => chunk.records.push(record),
                None => chunk.broken.push(text.trim_end().to_owned()),
            }
        }
        Ok(chunk)
    }

    /// Mark a chunk as stored in the database. Once all are, empty the file.
    pub fn done(&mut self, chunk: &Chunk) -> io::Result<()> {
        self.done = chunk.end;
        let lines = chunk.records.len() + chunk.broken.len();
        self.waiting = self.waiting.saturating_sub(lines as u64);
        if self.is_empty() {
            self.file.set_len(0)?;
            (self.done, self.end) = (0, 0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use std::io::Write;

    #[test]
    fn spooled_records_are_read_once_in_order_and_survive_a_restart() {
        let path = std::env::temp_dir().join(format!("spool-{}.jsonl", std::process::id()));
        let records = [sample(1, 1.5), sample(2, 2.5), sample(3, 3.5)];
        Spool::open(&path).unwrap().append(&records).unwrap();
        let mut spool = Spool::open(&path).unwrap();
        assert_eq!(spool.waiting(), 3);
        let first = spool.read(2).unwrap();
        assert_eq!(first.records, records[..2]);
        spool.done(&first).unwrap();
        assert!(!spool.is_empty());
        let second = spool.read(2).unwrap();
        assert_eq!(second.records, records[2..]);
        spool.done(&second).unwrap();
        assert!(spool.is_empty() && std::fs::read(&path).unwrap().is_empty());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn half_a_line_is_no_record_and_holds_up_nobody() {
        let path = std::env::temp_dir().join(format!("broken-{}.jsonl", std::process::id()));
        std::fs::File::create(&path).unwrap().write_all(b"{\"time\":1.5,\"ru\n").unwrap();
        let mut spool = Spool::open(&path).unwrap();
        spool.append(&[sample(1, 1.5)]).unwrap();
        let chunk = spool.read(10).unwrap();
        assert_eq!((chunk.records.len(), chunk.broken.len()), (1, 1));
        std::fs::remove_file(path).unwrap();
    }
}
