// SPDX-License-Identifier: Apache-2.0
//! HTTP/2 connection over TLS, the time of its handshakes, and small answers on it.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::client::{self, SendRequest};
use h2::RecvStream;
use http::{Method, Request, Uri};
use rustls::ProtocolVersion;
use speedtest_net::options::Options;
use speedtest_net::{socket, sys};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use crate::client::web::trust::{broken_handshake, Trust};

/// Receive window, equal to the server's, so that a stream can carry 10 Gbit/s over 50 ms. Received
/// data is dropped at once.
const STREAM_WINDOW: u32 = 64 << 20;
const CONNECTION_WINDOW: u32 = 256 << 20;
/// Bytes that a stream may keep in the library, and unsent in the kernel: a probe queues behind
/// them.
const SEND_BUFFER: usize = 128 << 10;
const UNSENT_BYTES: i32 = 128 << 10;

/// Destination of requests.
#[derive(Clone)]
pub struct Place {
    address: SocketAddr,
    authority: Arc<str>,
    path: Arc<str>,
    trust: Trust,
    options: Options,
}

impl Place {
    pub fn new(address: SocketAddr, authority: String, trust: Trust, options: Options) -> Place {
        Place { address, authority: authority.into(), path: "/".into(), trust, options }
    }

    /// Resolve a URL of the configuration, which may name another server.
    pub fn at(&self, url: &str) -> io::Result<Place> {
        let wrong = |why: &str| io::Error::other(format!("the configuration's {url:?}: {why}"));
        let uri: Uri = url.parse().map_err(|_| wrong("not a URL"))?;
        if uri.scheme_str() != Some("https") {
            return Err(wrong("not https"));
        }
        let (Some(host), Some(authority)) = (uri.host(), uri.authority()) else {
            return Err(wrong("no host"));
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let mut place = Place { path: path.into(), ..self.clone() };
        if authority.as_str() != &*self.authority {
            let name = host.trim_start_matches('[').trim_end_matches(']');
            let found = (name, uri.port_u16().unwrap_or(443)).to_socket_addrs()?.next();
            place.address = found.ok_or_else(|| wrong("the name has no address"))?;
            place.authority = authority.as_str().into();
            place.trust.rename(name)?;
        }
        Ok(place)
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn request(&self, method: Method, path: &str) -> io::Result<Request<()>> {
        let uri = format!("https://{}{path}", self.authority);
        let agent = concat!("wirespeed-speedtest/", env!("CARGO_PKG_VERSION"));
        let request = Request::builder().method(method).uri(uri).header("user-agent", agent);
        request.body(()).map_err(io::Error::other)
    }
}

/// Open connection; it ends when this and all its clones are dropped.
pub struct Link {
    pub sender: SendRequest<Bytes>,
    pub tcp: Duration,
    /// Time of one round trip of the handshake.
    pub tls: Duration,
    driver: JoinHandle<()>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Link {
    pub async fn open(place: &Place) -> io::Result<Link> {
        let named = |why: String| io::Error::other(format!("{}: {why}", place.authority));
        let begun = Instant::now();
        let stream = socket::connect(place.address, &place.options);
        let stream = TcpStream::from_std(stream.map_err(|error| named(error.to_string()))?)?;
        stream.writable().await?;
        if let Some(error) = stream.take_error()? {
            return Err(named(error.to_string()));
        }
        let tcp = begun.elapsed();
        stream.set_nodelay(true)?;
        let fd = stream.as_raw_fd();
        sys::set_option(fd, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, UNSENT_BYTES)?;
        let connector = TlsConnector::from(Arc::clone(&place.trust.config));
        let begun = Instant::now();
        let stream = connector.connect(place.trust.name.clone(), stream).await;
        let stream = stream.map_err(|error| named(broken_handshake(&error)))?;
        let tls = begun.elapsed();
        let session = stream.get_ref().1;
        if session.alpn_protocol() != Some(b"h2") {
            return Err(io::Error::other("the server does not speak HTTP/2"));
        }
        let old = session.protocol_version() == Some(ProtocolVersion::TLSv1_2);
        let (sender, connection) = client::Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_send_buffer_size(SEND_BUFFER)
            .enable_push(false)
            .handshake(stream)
            .await
            .map_err(fault)?;
        // Its error is also that of the requests on it.
        let driver = tokio::spawn(async move { connection.await.unwrap_or(()) });
        Ok(Link { sender, tcp, tls: if old { tls / 2 } else { tls }, driver })
    }
}

pub fn fault(error: h2::Error) -> io::Error {
    if error.is_io() {
        error.into_io().unwrap_or_else(|| io::Error::other("the connection broke"))
    } else {
        io::Error::other(format!("HTTP/2: {error}"))
    }
}

/// Fetch a small answer: its status and its body.
pub async fn fetch(
    link: &mut Link,
    place: &Place,
    path: &str,
    most: usize,
) -> io::Result<(u16, Vec<u8>)> {
    let request = place.request(Method::GET, path)?;
    let mut ready = link.sender.clone().ready().await.map_err(fault)?;
    let (answer, _) = ready.send_request(request, true).map_err(fault)?;
    let answer = answer.await.map_err(fault)?;
    let status = answer.status().as_u16();
    let mut body = Vec::new();
    let mut stream = answer.into_body();
    while let Some(piece) = piece(&mut stream).await? {
        body.extend_from_slice(&piece);
        if body.len() > most {
            return Err(io::Error::other(format!("{path}: more than {most} bytes")));
        }
    }
    Ok((status, body))
}

/// Return the next piece of a body, and make room for another.
pub async fn piece(stream: &mut RecvStream) -> io::Result<Option<Bytes>> {
    let Some(piece) = stream.data().await.transpose().map_err(fault)? else { return Ok(None) };
    stream.flow_control().release_capacity(piece.len()).map_err(fault)?;
    Ok(Some(piece))
}

/// Request one byte and time the whole answer.
pub async fn probe(sender: SendRequest<Bytes>, small: &Place) -> io::Result<Duration> {
    let begun = Instant::now();
    let mut ready = sender.ready().await.map_err(fault)?;
    let (answer, _) =
        ready.send_request(small.request(Method::GET, small.path())?, true).map_err(fault)?;
    let answer = answer.await.map_err(fault)?;
    if answer.status() != 200 {
        return Err(io::Error::other(format!("a probe was answered {}", answer.status())));
    }
    let mut stream = answer.into_body();
    while piece(&mut stream).await?.is_some() {}
    Ok(begun.elapsed())
}

/// The three times of a probe on a connection of its own.
pub struct Foreign {
    pub tcp: Duration,
    pub tls: Duration,
    pub http: Duration,
}

pub async fn probe_foreign(small: &Place) -> io::Result<Foreign> {
    let link = Link::open(small).await?;
    let http = probe(link.sender.clone(), small).await?;
    Ok(Foreign { tcp: link.tcp, tls: link.tls, http })
}
