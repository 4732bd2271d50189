// SPDX-License-Identifier: Apache-2.0
//! Results in a SQLite file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{params, Connection, ErrorCode};
use serde_json::Value;

use super::{private, Record, Refusal, Store};

/// Version in `PRAGMA user_version`; a file of a newer one is not changed.
const SCHEMA_VERSION: i64 = 1;
const SCHEMA: &str = "
CREATE TABLE speedtest_result (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    time REAL NOT NULL,
    protocol TEXT NOT NULL,
    client TEXT,
    record TEXT NOT NULL,
    UNIQUE (run, number)
);
CREATE INDEX speedtest_result_time ON speedtest_result (time);
PRAGMA user_version = 1;";
/// Time for which another program may hold the write lock.
const BUSY: Duration = Duration::from_secs(2);

pub struct Sqlite {
    connection: Connection,
    path: PathBuf,
}

impl Sqlite {
    pub fn open(path: &Path) -> Result<Sqlite, String> {
        let said = |error: rusqlite::Error| error.to_string();
        // The library would create it by the umask; the log next to it takes the file's
        // permissions.
        private::appending().open(path).map_err(|error| error.to_string())?;
        let mut connection = Connection::open(path).map_err(said)?;
        connection.busy_timeout(BUSY).map_err(said)?;
        // A removed address is also overwritten in the file.
        let modes =
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;";
        connection.execute_batch(modes).map_err(said)?;
        let begun = connection.transaction().map_err(said)?;
        let version: i64 =
            begun.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(said)?;
        if version > SCHEMA_VERSION {
            return Err(format!("schema {version}; this version knows up to {SCHEMA_VERSION}"));
        }
        if version == 0 {
            begun.execute_batch(SCHEMA).map_err(said)?;
        }
        begun.commit().map_err(said)?;
        Ok(Sqlite { connection, path: path.to_owned() })
    }
}

fn refusal(error: &rusqlite::Error) -> Refusal {
    match error.sqlite_error_code() {
        Some(ErrorCode::TooBig | ErrorCode::TypeMismatch | ErrorCode::ConstraintViolation) => {
            Refusal::Never(error.to_string())
        }
        _ => Refusal::Later(error.to_string()),
    }
}

impl Store for Sqlite {
    fn insert(&mut self, records: &[Record]) -> Result<(), Refusal> {
        let mut keep = || {
            let begun = self.connection.transaction()?;
            for record in records {
                let fields = Value::Object(record.fields.clone()).to_string();
                begun
                    .prepare_cached(
                        "INSERT INTO speedtest_result (run, number, time, protocol, client, record)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (run, number) DO NOTHING",
                    )?
                    .execute(params![
                        record.run,
                        record.number as i64,
                        record.time,
                        record.protocol(),
                        record.client,
                        fields
                    ])?;
            }
            begun.commit()
        };
        keep().map_err(|error| refusal(&error))
    }

    /// Return the size, with the log next to the file, which becomes part of it.
    fn bytes(&self) -> u64 {
        let beside = PathBuf::from(format!("{}-wal", self.path.display()));
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |about| about.len());
        size(&self.path) + size(&beside)
    }

    fn forget_clients(&mut self, before: f64) -> Result<u64, Refusal> {
        let forget = "UPDATE speedtest_result SET client = NULL
                      WHERE client IS NOT NULL AND time < ?1";
        let count =
            self.connection.execute(forget, [before]).map_err(|error| refusal(&error))? as u64;
        if count > 0 {
            // The log next to the file still has the old rows.
            let emptied =
                self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            emptied.map_err(|error| refusal(&error))?;
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    type Row = (i64, Option<String>, String);

    fn rows(store: &Sqlite) -> Vec<Row> {
        let mut all = store
            .connection
            .prepare("SELECT number, client, record FROM speedtest_result ORDER BY id")
            .unwrap();
        let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn a_record_is_kept_once_and_its_address_as_long_as_wanted() {
        let path = std::env::temp_dir().join(format!("results-{}.sqlite", std::process::id()));
        Sqlite::open(&path).unwrap().insert(&[sample(1, 10.0)]).unwrap();
        let mut store = Sqlite::open(&path).unwrap();
        store.insert(&[sample(1, 10.0), sample(2, 20.0)]).unwrap();
        assert_eq!(store.forget_clients(15.0).unwrap(), 1);
        let rows = rows(&store);
        assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((rows[0].1.as_deref(), rows[1].1.as_deref()), (None, Some("192.0.2.7:4711")));
        assert_eq!(serde_json::from_str::<Value>(&rows[0].2).unwrap()["note"], "a\"b");
        drop(store);
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes.windows(14).filter(|window| *window == b"192.0.2.7:4711").count();
        assert_eq!(found, 1, "a dropped address is still in the file");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_of_a_newer_schema_is_not_touched() {
        let path = std::env::temp_dir().join(format!("newer-{}.sqlite", std::process::id()));
        Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 9").unwrap();
        let error = Sqlite::open(&path).err().unwrap();
        assert_eq!(error, "schema 9; this version knows up to 1");
        std::fs::remove_file(path).unwrap();
    }
}
