// SPDX-License-Identifier: Apache-2.0
//! Starts the loops, waits for signals, drains.
//!
//! [`parts`] makes the shared state, [`listeners`] gives each protocol what it uses, [`ending`]
//! handles the stop.

pub(crate) mod contexts;
mod ending;
mod listeners;
pub(crate) mod parts;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use serde_json::json;
use speedtest_net::bulk;
use speedtest_net::reactor::{Lane, Lanes};
use speedtest_net::rights;
use speedtest_net::sys;

use crate::config::{Config, ConfigError, Kernel};
use crate::log::Logger;
use crate::notify::notify;
use crate::privileges::{self, Account};
use crate::tls::Identity;
use ending::{drain, wait_for_end};
use parts::Parts;

/// Descriptors kept for everything that is not a client's connection and not of a loop.
const OWN_FILES: u64 = 64;
/// Descriptors of a loop: its epoll instance, its eventfd, its thread's schedstat.
const FILES_OF_A_LOOP: u64 = 3;
/// Least connections: with fewer no test could run.
const LEAST_CONNECTIONS: u64 = 8;
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot listen on {address}: {error}{}", hint(.error))]
    Listen { address: SocketAddr, error: io::Error },
    #[error("server.user: cannot become this user: {0}; start as root, or without server.user")]
    Privileges(io::Error),
    #[error(
        "{files} open files are allowed (ulimit -n); at least {needed} are needed with {loops} loops"
    )]
    Files { files: u64, needed: u64, loops: usize },
    #[error("cannot start: {0}")]
    Start(#[from] io::Error),
}

/// Return the next step for an address that cannot be bound.
fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "; is another server using it?",
        io::ErrorKind::AddrNotAvailable => "; this host has no such address",
        io::ErrorKind::PermissionDenied => "; a port below 1024 needs root or CAP_NET_BIND_SERVICE",
        _ => "",
    }
}

/// Serve until SIGTERM or SIGINT, then let running tests finish. A second signal ends at once.
pub fn serve(config: Config) -> Result<(), ServeError> {
    let user = config.server.user.as_deref().map(privileges::find).transpose()?;
    let kernel = Kernel::of_this_host(user.is_none() && rights::may_administer_network());
    config.check(&kernel)?;
    sys::block_signals();
    let loops = loops(&config);
    let most = most_connections(loops)?;
    let identity = load_identity(&config)?;
    let lanes = Lanes::new(loops)?;
    std::sync::LazyLock::force(&bulk::HOT);
    let parts = Parts::new(&config, kernel, lanes, most);
    let log = parts.log.clone();
    let served = run(&config, &parts, user, identity.as_ref());
    log.stop();
    served
}

/// Run from the first listener to the last result.
fn run(
    config: &Config,
    parts: &Parts,
    user: Option<Account>,
    identity: Option<&Arc<Identity>>,
) -> Result<(), ServeError> {
    let (log, lanes) = (&parts.log, &parts.lanes);
    for idle in config.without_effect() {
        let fields = json!({"setting": idle.place, "because": idle.fault});
        log.warn("a setting has no effect", fields);
    }
    listeners::open(config, parts, identity)?;
    drop_privileges(log, user)?;
    log.start()?;
    parts.keeper.open()?;
    let threads = start_loops(lanes)?;
    log.info("ready", json!({"loops": lanes.count(), "connections": parts.clients.most()}));
    notify("READY=1")?;
    wait_for_end(parts, identity.map(Arc::as_ref));
    drain(parts, config.server.drain());
    lanes.stop();
    for thread in threads {
        // A loop that panicked aborts the whole process, so there is nothing to join for.
        let _ = thread.join();
    }
    parts.keeper.stop();
    log.info("stopped", json!({}));
    Ok(())
}

/// Return how many fit into this process's descriptors, next to those of its loops.
fn most_connections(loops: usize) -> Result<usize, ServeError> {
    let files = sys::raise_file_limit()?;
    let own = OWN_FILES + FILES_OF_A_LOOP.saturating_mul(loops as u64);
    let most = files.saturating_sub(own);
    if most < LEAST_CONNECTIONS {
        return Err(ServeError::Files { files, needed: own + LEAST_CONNECTIONS, loops });
    }
    Ok(usize::try_from(most).unwrap_or(usize::MAX))
}

/// Drop privileges before any input of a client is read, and before any results file is created.
fn drop_privileges(log: &Logger, user: Option<Account>) -> Result<(), ServeError> {
    sys::forbid_new_privileges()?;
    match user {
        Some(account) => privileges::become_user(account).map_err(ServeError::Privileges)?,
        None if sys::user_id() == 0 => {
            log.warn("running as root", json!({"better": "set server.user"}));
        }
        None => {}
    }
    Ok(())
}

fn load_identity(config: &Config) -> Result<Option<Arc<Identity>>, ConfigError> {
    match (&config.tls.cert, &config.tls.key) {
        (Some(cert), Some(key)) => Identity::load(cert, key).map(|it| Some(Arc::new(it))),
        _ => Ok(None),
    }
}

fn loops(config: &Config) -> usize {
    match config.server.loops {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        count => count,
    }
}

fn start_loops(lanes: &Lanes) -> io::Result<Vec<JoinHandle<()>>> {
    let start = |index| {
        let lane = Lane::new(index, lanes.clone())?;
        std::thread::Builder::new().name(format!("loop-{index}")).spawn(move || {
            if let Err(error) = lane.run() {
                eprintln!("loop {index}: {error}");
                std::process::exit(1);
            }
        })
    };
    (0..lanes.count()).map(start).collect()
}
