// SPDX-License-Identifier: Apache-2.0
//! Where results are kept.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;
use tokio_postgres::Config;

use super::{range, ConfigError};

/// Where results are kept: one of the first three.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResultsTo {
    /// Appended here, one JSON object a line.
    pub jsonl: Option<PathBuf>,
    /// A SQLite file.
    pub sqlite: Option<PathBuf>,
    /// `postgresql://USER@HOST/DATABASE` or `host=... user=...`.
    pub postgresql: Option<String>,
    /// Certificate authorities that sign that server's certificate, in PEM: the connection is then TLS.
    pub postgresql_ca: Option<PathBuf>,
    /// Results that the database does not take wait here; next to a SQLite file when unset.
    pub spool: Option<PathBuf>,
    /// Client addresses are dropped after N days; 0 keeps none, unset keeps them for ever.
    pub keep_addresses_days: Option<u32>,
    /// Neither the file nor the spool grows beyond this; 0 is no limit, unset 10 GiB.
    pub max_bytes: Option<u64>,
}

fn fault(place: &str, fault: impl Into<String>) -> Result<(), ConfigError> {
    Err(ConfigError { place: place.to_owned(), fault: fault.into() })
}

impl ResultsTo {
    /// Take the store of a flag instead of the one in the file. Errors do not repeat its text: it
    /// may hold a password.
    pub fn in_store(self, to: &str) -> Result<ResultsTo, ConfigError> {
        let rest = ResultsTo { jsonl: None, sqlite: None, postgresql: None, ..self };
        let scheme = to.split_once(':').map(|(scheme, path)| (scheme.to_ascii_lowercase(), path));
        let allowed = "allowed are PATH, sqlite:PATH and postgresql://...";
        let wrong = |what: String| {
            Err(ConfigError { place: "--results".to_owned(), fault: format!("{what}; {allowed}") })
        };
        match scheme.as_ref().map(|(scheme, path)| (scheme.as_str(), *path)) {
            _ if to.is_empty() => wrong("empty".into()),
            Some(("sqlite", "")) => wrong("sqlite: without a path".into()),
            Some(("sqlite", path)) => Ok(ResultsTo { sqlite: Some(path.into()), ..rest }),
            Some(("postgresql" | "postgres", _)) => {
                Ok(ResultsTo { postgresql: Some(to.to_owned()), ..rest })
            }
            Some((other, _))
                if !other.is_empty() && other.bytes().all(|byte| byte.is_ascii_alphabetic()) =>
            {
                wrong(format!("{other}: is not a store (a file of this name is ./{other}:...)"))
            }
            _ => Ok(ResultsTo { jsonl: Some(to.into()), ..rest }),
        }
    }

    pub fn max_bytes(&self) -> u64 {
        match self.max_bytes.unwrap_or(10 << 30) {
            0 => u64::MAX,
            most => most,
        }
    }

    /// Return whether there is a store.
    pub fn wanted(&self) -> bool {
        self.jsonl.is_some() || self.sqlite.is_some() || self.postgresql.is_some()
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let stores = [self.jsonl.is_some(), self.sqlite.is_some(), self.postgresql.is_some()];
        if stores.iter().filter(|is_set| **is_set).count() > 1 {
            return fault("results", "set only one of jsonl, sqlite and postgresql");
        }
        let files = [
            ("results.jsonl", &self.jsonl),
            ("results.sqlite", &self.sqlite),
            ("results.spool", &self.spool),
        ];
        if let Some((place, _)) =
            files.into_iter().find(|(_, file)| file.as_deref() == Some(Path::new("")))
        {
            return fault(place, "empty; a path is needed");
        }
        if self.postgresql.is_some() && self.spool.is_none() {
            let missing = "not set; results wait in this file while PostgreSQL cannot be reached";
            return fault("results.spool", missing);
        }
        if self.postgresql_ca.is_some() && self.postgresql.is_none() {
            return fault("results.postgresql_ca", "only postgresql has one");
        }
        if self.spool.is_some() && self.sqlite.is_none() && self.postgresql.is_none() {
            return fault("results.spool", "only sqlite and postgresql have a spool");
        }
        if let Some(Err(why)) = self.postgresql.as_deref().map(read_url) {
            return fault("results.postgresql", why);
        }
        let days = u64::from(self.keep_addresses_days.unwrap_or(0));
        range::check("results.keep_addresses_days", days, &range::KEEP_ADDRESSES_DAYS)
    }
}

/// Read a database's address. An error repeats nothing of it, as any part may hold a password.
pub fn read_url(url: &str) -> Result<Config, String> {
    let cause = match Config::from_str(url) {
        Ok(config) if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() => {
            "no host; for a unix socket add ?host=/DIRECTORY".to_owned()
        }
        Ok(config) => return Ok(config),
        Err(error) => std::error::Error::source(&error)
            .map(ToString::to_string)
            .filter(|cause| cause.starts_with("invalid value for option"))
            .unwrap_or_else(|| "cannot be read".to_owned()),
    };
    let form = "postgresql://USER:PASSWORD@HOST:PORT/DATABASE";
    Err(format!("{cause}; allowed is {form}, with %XX for other signs in a name or password"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(to: &str) -> Result<ResultsTo, String> {
        ResultsTo::default().in_store(to).map_err(|error| error.to_string())
    }

    #[test]
    fn a_flag_names_a_file_or_a_database() {
        for path in ["results.jsonl", "/dev/full", "./a:b", "/srv/a:b", "2026-01-01T10:00"] {
            assert_eq!(named(path).unwrap().jsonl, Some(path.into()));
        }
        assert_eq!(named("sqlite:/a:b").unwrap().sqlite, Some("/a:b".into()));
        assert!(named("postgres://h/x").unwrap().postgresql.is_some());
    }

    #[test]
    fn an_unknown_store_is_refused_without_its_password() {
        for to in ["", "sqlite:", "bogus:foo", "mysql://root:secret@h/x", "root:secret@h"] {
            let fault = named(to).unwrap_err();
            assert!(fault.contains("sqlite:PATH") && !fault.contains("secret"), "{to:?}: {fault}");
        }
    }

    #[test]
    fn an_address_of_a_database_that_cannot_be_read_is_refused_without_its_password() {
        for url in [
            "postgresql:secret",
            "postgresql://u:a@b:sec/ret@h/x",
            "postgresql://u:a@b?secret=c@h/x",
            "postgresql://u:secret@h:port/x",
            "postgresql://u:secret@/x",
            "host=h password=a secret",
        ] {
            let (postgresql, spool) = (Some(url.to_owned()), Some("spool".into()));
            let to = ResultsTo { postgresql, spool, ..ResultsTo::default() };
            let Err(fault) = to.check() else { panic!("{url} is taken") };
            let fault = fault.to_string();
            assert!(fault.starts_with("results.postgresql: "), "{fault}");
            assert!(!fault.contains("sec"), "{url}: {fault}");
        }
    }
}
