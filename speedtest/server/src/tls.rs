// SPDX-License-Identifier: Apache-2.0
//! The server's certificate, which may change while it serves, and the handshake of one connection.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::ServerConfig;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Note, PeerInstant, Ready};
use speedtest_net::tls::Tls;
use speedtest_net::wire::Wire;

use crate::accept::AcceptedConnection;
use crate::clients::{self, Displaced};
use crate::config::ConfigError;
use crate::counters::Counters;

/// Protocols in the order of preference.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Size, inode and modification time of a file, to detect a change; None while it does not exist.
type Stamp = Option<(u64, u64, i64, i64)>;

/// Certificate and key, as in the files.
#[derive(Debug)]
pub struct Identity {
    cert: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<ServerConfig>>,
    seen: Mutex<[Stamp; 2]>,
}

impl Identity {
    /// Load both files.
    pub fn load(cert: &Path, key: &Path) -> Result<Identity, ConfigError> {
        let seen = Mutex::new([stamp(cert), stamp(key)]);
        let current = RwLock::new(Arc::new(read(cert, key)?));
        Ok(Identity { cert: cert.into(), key: key.into(), current, seen })
    }

    /// Return the configuration of handshakes that begin now.
    pub fn current(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Load both files again if one has changed, or `always`. None: nothing to do. An unusable pair
    /// leaves the old one in place.
    pub fn reload(&self, always: bool) -> Option<Result<(), ConfigError>> {
        let now = [stamp(&self.cert), stamp(&self.key)];
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !always && *seen == now {
            return None;
        }
        *seen = now;
        Some(read(&self.cert, &self.key).map(|config| {
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
        }))
    }
}

fn stamp(path: &Path) -> Stamp {
    let file = path.metadata().ok()?;
    Some((file.size(), file.ino(), file.mtime(), file.mtime_nsec()))
}

fn read(cert: &Path, key: &Path) -> Result<ServerConfig, ConfigError> {
    let in_file = |place: &str, path: &Path, error: String| ConfigError {
        place: place.into(),
        fault: format!("{}: {error}", path.display()),
    };
    let chain: Vec<_> = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect)
        .map_err(|error| in_file("tls.cert", cert, error.to_string()))?;
    if chain.is_empty() {
        return Err(in_file("tls.cert", cert, "no certificate in PEM is in this file".into()));
    }
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| in_file("tls.key", key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
        .map_err(|error| in_file("tls.cert", cert, format!("with {}: {error}", key.display())))?;
    config.alpn_protocols = ALPN.map(<[u8]>::to_vec).to_vec();
    Ok(config)
}

/// Makes the handler of a connection that is ready for its first request.
pub type Then =
    Arc<dyn Fn(Wire, SocketAddr, clients::Connection) -> Box<dyn Handler> + Send + Sync>;

/// Connection whose handshake is not complete; `most` is the limit for all of it.
pub struct Handshake {
    tls: Option<Box<Tls>>,
    fd: RawFd,
    peer: SocketAddr,
    counted: Option<clients::Connection>,
    counters: Arc<Counters>,
    most: Duration,
    then: Then,
    deadline: PeerInstant,
}

impl Handshake {
    pub fn new(
        accepted: AcceptedConnection,
        identity: &Identity,
        counters: Arc<Counters>,
        most: Duration,
        then: Then,
    ) -> io::Result<Handshake> {
        let fd = accepted.socket.as_raw_fd();
        Ok(Handshake {
            tls: Some(Box::new(Tls::accept(accepted.socket, identity.current())?)),
            fd,
            peer: accepted.peer,
            counted: Some(accepted.connection),
            counters,
            most,
            then,
            deadline: PeerInstant::outside(),
        })
    }

    fn failed(&self) -> Next {
        Counters::add(&self.counters.handshakes_failed, 1);
        Next::Close
    }
}

impl Handler for Handshake {
    fn fd(&self) -> RawFd {
        self.fd
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        if let Some(counted) = &mut self.counted {
            counted.entered(cx.address());
        }
        self.deadline = cx.peer_now() + self.most;
        cx.wake_at(cx.when(self.deadline));
        cx.wait_for(Interest::READ);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
        let Some(tls) = &mut self.tls else { return Next::Close };
        match tls.handshake(&mut cx.turn) {
            Ok(true) => {
                let (Some(tls), Some(counted)) = (self.tls.take(), self.counted.take()) else {
                    return Next::Close;
                };
                Next::Become((self.then)(Wire::Tls(tls), self.peer, counted))
            }
            Ok(false) => {
                let output = tls.has_output();
                cx.wait_for(if output { Interest::BOTH } else { Interest::READ });
                Next::Stay
            }
            Err(_) => self.failed(),
        }
    }

    fn note(&mut self, _cx: &mut Cx<'_>, note: Note) -> Next {
        if note.word() == Some(Displaced) {
            return self.failed();
        }
        Next::Stay
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if cx.peer_now() >= self.deadline {
            return self.failed();
        }
        cx.wake_at(cx.when(self.deadline));
        Next::Stay
    }
}
