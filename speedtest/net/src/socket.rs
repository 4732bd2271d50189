// SPDX-License-Identifier: Apache-2.0
//! Listening, accepting, connecting; everything non-blocking.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use crate::options::{self, Options};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

const BACKLOG: i32 = 4096;

/// Open a listening socket; an IPv6 one also takes IPv4.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Open a UDP socket. Others may have the same address; a connected one gets its peer's datagrams.
pub fn bind_udp(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Start to connect to `address`; the socket is connected once it is writable without an error.
pub fn connect(address: SocketAddr, options: &Options) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    // Window and MSS must be known before the handshake.
    options::apply(&socket, options)
        .map_err(|refused| io::Error::new(refused.error.kind(), refused.to_string()))?;
    match socket.connect(&address.into()) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        other => other?,
    }
    Ok(socket.into())
}

/// Make the kernel detect within about 30 s that the peer of an idle connection is gone.
pub fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    let probes = socket2::TcpKeepalive::new()
        .with_time(Duration::from_secs(15))
        .with_interval(Duration::from_secs(5))
        .with_retries(3);
    SockRef::from(stream).set_tcp_keepalive(&probes)
}
