// SPDX-License-Identifier: Apache-2.0
//! Starts the loops, waits for signals, drains.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::json;
use speedtest_net::reactor::{Lane, Lanes, Note};
use speedtest_net::rights;
use speedtest_net::sys::{self, Signal};
use speedtest_net::{bulk, socket};

use crate::config::{Config, ConfigError, Kernel};
use crate::http::{self, Service};
use crate::iperf3;
use crate::listener::{Greet, Listener};
use crate::ndt7::Gate;
use crate::notify::notify;
use crate::privileges::{self, Account};
use crate::shared::Shared;
use crate::tls::Identity;

/// Descriptors kept for everything that is not a client's connection.
const OWN_FILES: u64 = 64;
/// With fewer than this nobody could test.
const LEAST_CONNECTIONS: u64 = 8;
/// How often a running server looks for clients that rest and for a changed certificate.
const HOUSEKEEPING: Duration = Duration::from_secs(1);
/// How often a draining server looks whether the last test has ended.
const DRAIN_LOOK: Duration = Duration::from_millis(50);
/// Time for SERVER_TERMINATE to leave.
const LAST_WORDS: Duration = Duration::from_millis(200);

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot listen on {address}: {error}{}", hint(.error))]
    Listen { address: SocketAddr, error: io::Error },
    #[error("server.user: cannot become this user: {0}; start as root, or without server.user")]
    Privileges(io::Error),
    #[error(
        "{files} open files are allowed (ulimit -n); at least {} are needed",
        OWN_FILES + LEAST_CONNECTIONS
    )]
    Files { files: u64 },
    #[error("cannot start: {0}")]
    Start(#[from] io::Error),
}

/// What the operator may do about an address that cannot be had.
fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "; is another server using it?",
        io::ErrorKind::AddrNotAvailable => "; this host has no such address",
        io::ErrorKind::PermissionDenied => "; a port below 1024 needs root or CAP_NET_BIND_SERVICE",
        _ => "",
    }
}

/// Serves until SIGTERM or SIGINT, then lets running tests finish. A second signal ends at once.
pub fn serve(config: Config) -> Result<(), ServeError> {
    let user = config.server.user.as_deref().map(privileges::find).transpose()?;
    let kernel = Kernel::of_this_host(user.is_none() && rights::may_administer_network());
    config.check(&kernel)?;
    sys::block_signals();
    let most = most_connections()?;
    let identity = load_identity(&config)?;
    let lanes = Lanes::new(loops(&config))?;
    std::sync::LazyLock::force(&bulk::HOT);
    let gate = Gate::load(&config.ndt7)?;
    let shared = Arc::new(Shared::new(config, kernel, lanes.clone(), gate, most));
    for idle in shared.config.without_effect() {
        let fields = json!({"setting": idle.place, "because": idle.fault});
        shared.log.warn("a setting has no effect", fields);
    }
    open_listeners(&shared, identity.as_ref())?;
    drop_privileges(&shared, user)?;
    shared.open_results()?;
    let threads = start_loops(&lanes)?;
    let ready = json!({"loops": lanes.count(), "connections": most});
    shared.log.info("ready", ready);
    notify("READY=1")?;
    wait_for_end(&shared, identity.as_deref());
    drain(&shared);
    lanes.stop();
    for thread in threads {
        // A loop that panicked aborts the whole process, so there is nothing to join for.
        let _ = thread.join();
    }
    shared.stop_results();
    shared.log.info("stopped", json!({}));
    Ok(())
}

/// As many as fit into this process's descriptors.
fn most_connections() -> Result<usize, ServeError> {
    let files = sys::raise_file_limit()?;
    let most = files.saturating_sub(OWN_FILES);
    if most < LEAST_CONNECTIONS {
        return Err(ServeError::Files { files });
    }
    Ok(usize::try_from(most).unwrap_or(usize::MAX))
}

/// Before anything of a client is read, and before any file of results belongs to somebody.
fn drop_privileges(shared: &Shared, user: Option<Account>) -> Result<(), ServeError> {
    sys::forbid_new_privileges()?;
    match user {
        Some(account) => privileges::become_user(account).map_err(ServeError::Privileges)?,
        None if sys::user_id() == 0 => {
            shared.log.warn("running as root", json!({"better": "set server.user"}));
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

fn open_listeners(
    shared: &Arc<Shared>,
    identity: Option<&Arc<Identity>>,
) -> Result<(), ServeError> {
    for (index, listen) in shared.config.iperf3.iter().enumerate() {
        let place = format!("iperf3[{index}].auth");
        let auth =
            listen.auth.as_ref().map(|files| iperf3::Auth::load(&place, files)).transpose()?;
        let greet = iperf3::greet(Arc::clone(shared), Arc::new(listen.clone()), auth);
        // Of port 0 the kernel chooses one, and both sockets have to be there.
        let address = open(shared, "iperf3", listen.listen, greet)?;
        let datagrams = iperf3::DatagramListener::open(address, Arc::clone(shared))
            .map_err(|error| ServeError::Listen { address, error })?;
        shared.lanes.adopt(usize::from(address.port()) % shared.lanes.count(), Box::new(datagrams));
    }
    for listen in &shared.config.http {
        open(shared, "http", listen.listen, http::greet(Arc::clone(shared), Service::Tests))?;
    }
    for listen in &shared.config.https {
        let Some(identity) = identity else { continue };
        let greet = http::greet_tls(Arc::clone(shared), Arc::clone(identity));
        open(shared, "https", listen.listen, greet)?;
    }
    for listen in &shared.config.metrics {
        open(shared, "metrics", listen.listen, http::greet(Arc::clone(shared), Service::Metrics))?;
    }
    Ok(())
}

/// Listens there, and says at which address, port included.
fn open(
    shared: &Arc<Shared>,
    protocol: &str,
    address: SocketAddr,
    greet: Greet,
) -> Result<SocketAddr, ServeError> {
    let failed = |error| ServeError::Listen { address, error };
    let socket = socket::listen(address).map_err(failed)?;
    let address = socket.local_addr().map_err(failed)?;
    let lane = usize::from(address.port()) % shared.lanes.count();
    shared.lanes.adopt(lane, Box::new(Listener::new(socket, Arc::clone(shared), greet)));
    shared.log.info("listening", json!({"protocol": protocol, "address": address.to_string()}));
    Ok(address)
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

/// Looks after HTTP tests and the certificate until the server shall stop.
fn wait_for_end(shared: &Shared, identity: Option<&Identity>) {
    loop {
        let signal = sys::wait_signal(HOUSEKEEPING);
        if signal == Some(Signal::Terminate) {
            return;
        }
        shared.sessions.sweep(Instant::now());
        let asked = signal == Some(Signal::Reload);
        match identity.and_then(|identity| identity.reload(asked)) {
            Some(Ok(())) => shared.log.info("certificate reloaded", json!({})),
            Some(Err(error)) => {
                let fields = json!({"error": error.to_string()});
                shared.log.warn("certificate not reloaded, the old one stays", fields);
            }
            None => {}
        }
    }
}

fn drain(shared: &Shared) {
    // Systemd is only told; a server that it did not start has nobody to tell.
    let _ = notify("STOPPING=1");
    let (running, waiting) = {
        let admission = shared.admission();
        (admission.running(), admission.waiting())
    };
    let fields =
        json!({"tests": running, "waiting": waiting, "connections": shared.clients.total()});
    shared.log.info("draining", fields);
    shared.drain();
    let until = Instant::now() + Duration::from_secs(shared.config.server.drain_s);
    let busy = || !shared.testing().is_empty() || shared.sessions.any_runs(Instant::now());
    while busy() && Instant::now() < until {
        if sys::wait_signal(DRAIN_LOOK) == Some(Signal::Terminate) {
            break;
        }
    }
    let left = shared.testing();
    if !left.is_empty() {
        shared.log.warn("ending tests that did not finish", json!({"tests": left.len()}));
        for control in left {
            shared.lanes.tell(control, Note::Terminate);
        }
        sys::wait_signal(LAST_WORDS);
    }
}
