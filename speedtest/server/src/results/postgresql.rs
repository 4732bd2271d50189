// SPDX-License-Identifier: Apache-2.0
//! Results in a PostgreSQL database.
//!
//! Every call has its own time limit: a database that is stopped or unreachable must not block the
//! writer without end.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{json, Value};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Record, Refusal, Store};
use crate::config::read_url;
use crate::log::Logger;

/// Version in the table `speedtest_schema`; a database of a newer one is not changed.
const SCHEMA_VERSION: i32 = 1;
const SCHEMA: &str = "
CREATE TABLE speedtest_schema (version integer NOT NULL);
INSERT INTO speedtest_schema VALUES (1);
CREATE TABLE speedtest_result (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run text NOT NULL,
    number bigint NOT NULL,
    time timestamptz NOT NULL,
    protocol text NOT NULL,
    client text,
    record jsonb NOT NULL,
    UNIQUE (run, number)
);
CREATE INDEX speedtest_result_time ON speedtest_result (time);";
/// Lock that keeps two servers that start at once from both creating the tables.
const SCHEMA_LOCK: i64 = 0x7769_7265_7370;
const ANSWER: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_secs(5);

pub struct Postgresql {
    config: Config,
    /// None: clear text.
    tls: Option<MakeRustlsConnect>,
    runtime: Runtime,
    client: Option<Client>,
}

/// Error of the database or its connection.
enum Fault {
    Database(tokio_postgres::Error),
    Late,
    Newer(i32),
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Fault {
        Fault::Database(error)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Late => write!(f, "no answer in {} s", ANSWER.as_secs()),
            Fault::Newer(version) => {
                write!(f, "schema {version}; this version knows up to {SCHEMA_VERSION}")
            }
            Fault::Database(error) => match error.as_db_error() {
                Some(said) => write!(f, "{}: {}", said.code().code(), said.message()),
                None => {
                    let cause = std::error::Error::source(error).map(ToString::to_string);
                    write!(f, "{error}{}", cause.map(|c| format!(": {c}")).unwrap_or_default())
                }
            },
        }
    }
}

impl Postgresql {
    /// Check the address, and the schema if the database can be reached; otherwise check it later.
    /// With an authority the connection is TLS and the server's certificate is checked, name
    /// included.
    pub fn open(url: &str, ca: Option<&Path>, log: Logger) -> Result<Postgresql, String> {
        let mut config = read_url(url)?;
        let tls = ca.map(trusting).transpose()?;
        match (config.get_ssl_mode(), &tls) {
            (SslMode::Require, None) => {
                let missing = "needs results.postgresql_ca, the authority to trust";
                return Err(format!("sslmode=require {missing}"));
            }
            (SslMode::Disable, Some(_)) => {
                return Err("sslmode=disable, but results.postgresql_ca is set".into());
            }
            // With an authority there is no fallback to clear text.
            (_, Some(_)) => drop(config.ssl_mode(SslMode::Require)),
            (_, None) => {}
        }
        config.connect_timeout(CONNECT).application_name("wirespeed-speedtest");
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
        let mut store = Postgresql { config, tls, runtime, client: None };
        match store.connect() {
            Ok(()) => {}
            Err(fault @ Fault::Newer(_)) => return Err(fault.to_string()),
            Err(fault) => {
                let fields = json!({"error": fault.to_string()});
                log.warn("the database is not there yet", fields);
            }
        }
        Ok(store)
    }

    fn connect(&mut self) -> Result<(), Fault> {
        let (config, tls) = (self.config.clone(), self.tls.clone());
        self.client = Some(timed(&self.runtime, async move {
            // The connection runs while the calls wait; it ends with the client, and its error
            // shows there.
            let mut client = match tls {
                None => {
                    let (client, connection) = config.connect(NoTls).await?;
                    tokio::spawn(async move { connection.await.ok() });
                    client
                }
                Some(tls) => {
                    let (client, connection) = config.connect(tls).await?;
                    tokio::spawn(async move { connection.await.ok() });
                    client
                }
            };
            prepare(&mut client).await?;
            Ok(client)
        })?);
        Ok(())
    }

    fn call<T>(
        &mut self,
        what: impl AsyncFnOnce(&mut Client) -> Result<T, Fault>,
    ) -> Result<T, Refusal> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.connect().map_err(|fault| Refusal::Later(fault.to_string()))?;
        }
        let Some(mut client) = self.client.take() else {
            return Err(Refusal::Later("not connected".into()));
        };
        match timed(&self.runtime, what(&mut client)) {
            Ok(value) => {
                self.client = Some(client);
                Ok(value)
            }
            // The next call reconnects.
            Err(fault) if never(&fault) => Err(Refusal::Never(fault.to_string())),
            Err(fault) => Err(Refusal::Later(fault.to_string())),
        }
    }
}

/// Trust the authorities in this file.
fn trusting(path: &Path) -> Result<MakeRustlsConnect, String> {
    let wrong = |why: String| format!("{}: {why}", path.display());
    let mut roots = RootCertStore::empty();
    for found in CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))? {
        let certificate = found.map_err(|error| wrong(error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(wrong("no certificate in PEM".into()));
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn timed<T>(runtime: &Runtime, what: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    runtime.block_on(async { tokio::time::timeout(ANSWER, what).await.unwrap_or(Err(Fault::Late)) })
}

/// Return whether the record is the cause: classes 22 (data exception) and 54 (program limit).
fn never(fault: &Fault) -> bool {
    let Fault::Database(error) = fault else { return false };
    error
        .code()
        .is_some_and(|state| state.code().starts_with("22") || state.code().starts_with("54"))
}

async fn prepare(client: &mut Client) -> Result<(), Fault> {
    let begun = client.transaction().await?;
    begun.execute("SELECT pg_advisory_xact_lock($1)", &[&SCHEMA_LOCK]).await?;
    let there: bool =
        begun.query_one("SELECT to_regclass('speedtest_schema') IS NOT NULL", &[]).await?.get(0);
    if !there {
        begun.batch_execute(SCHEMA).await?;
    }
    let version: i32 =
        begun.query_one("SELECT max(version) FROM speedtest_schema", &[]).await?.get(0);
    if version > SCHEMA_VERSION {
        return Err(Fault::Newer(version));
    }
    Ok(begun.commit().await?)
}

impl Store for Postgresql {
    fn insert(&mut self, records: &[Record]) -> Result<(), Refusal> {
        self.call(async |client: &mut Client| {
            let begun = client.transaction().await?;
            let insert = begun
                .prepare(
                    "INSERT INTO speedtest_result (run, number, time, protocol, client, record)
                     VALUES ($1, $2, to_timestamp($3), $4, $5, $6::text::jsonb)
                     ON CONFLICT (run, number) DO NOTHING",
                )
                .await?;
            for record in records {
                let (number, protocol) = (record.number as i64, record.protocol());
                let fields = Value::Object(record.fields.clone()).to_string();
                begun
                    .execute(
                        &insert,
                        &[&record.run, &number, &record.time, &protocol, &record.client, &fields],
                    )
                    .await?;
            }
            Ok(begun.commit().await?)
        })
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn forget_clients(&mut self, before: f64) -> Result<u64, Refusal> {
        self.call(async |client: &mut Client| {
            let forget = "UPDATE speedtest_result SET client = NULL
                          WHERE client IS NOT NULL AND time < to_timestamp($1)";
            Ok(client.execute(forget, &[&before]).await?)
        })
    }
}
