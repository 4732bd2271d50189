// SPDX-License-Identifier: Apache-2.0
//! A connection that is clear or TLS, read and written in the same way.
//!
//! Every call returns at once; [`ErrorKind::WouldBlock`] means: wait for [`Wire::interest`]. Reading
//! goes on until `WouldBlock`, because decrypted bytes may be here that epoll knows nothing of.

use std::io::{self, ErrorKind, IoSlice};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};

use crate::reactor::Interest;
use crate::sys;
use crate::tls::Tls;

/// One call drops at most this much, so that the other sockets of the loop get their turn.
const MOST_AT_ONCE: u64 = 4 << 20;

pub enum Wire {
    Clear(TcpStream),
    Tls(Box<Tls>),
}

impl Wire {
    pub fn socket(&self) -> &TcpStream {
        match self {
            Wire::Clear(socket) => socket,
            Wire::Tls(tls) => tls.socket(),
        }
    }

    pub fn is_tls(&self) -> bool {
        matches!(self, Wire::Tls(_))
    }

    /// The protocol that a TLS handshake agreed on.
    pub fn alpn(&self) -> Option<&[u8]> {
        match self {
            Wire::Clear(_) => None,
            Wire::Tls(tls) => tls.alpn(),
        }
    }

    /// Reads; 0 is the end.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Wire::Clear(socket) => sys::receive(socket.as_raw_fd(), buffer),
            Wire::Tls(tls) => tls.receive(buffer),
        }
    }

    /// Decrypted bytes are here that can be read without the socket.
    pub fn has_plain(&self) -> bool {
        match self {
            Wire::Clear(_) => false,
            Wire::Tls(tls) => tls.has_plain(),
        }
    }

    /// Drops up to `most` bytes: in the kernel where the connection is clear. 0 is the end.
    pub fn discard(&mut self, most: u64) -> io::Result<u64> {
        match self {
            Wire::Clear(socket) => {
                let most = usize::try_from(most.min(MOST_AT_ONCE)).unwrap_or(usize::MAX);
                sys::discard(socket.as_raw_fd(), most).map(|count| count as u64)
            }
            Wire::Tls(tls) => tls.discard(most),
        }
    }

    /// Sends the beginning of `bytes` and says how much of it that was.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Wire::Clear(socket) => sys::send(socket.as_raw_fd(), bytes, false),
            Wire::Tls(tls) => tls.send(bytes),
        }
    }

    /// Sends the beginning of all `parts` together and says how much of them that was.
    pub fn send_parts(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Wire::Clear(socket) => sys::send_parts(socket.as_raw_fd(), parts),
            Wire::Tls(tls) => {
                let first = parts.iter().find(|part| !part.is_empty());
                first.map_or(Ok(0), |part| tls.send(part))
            }
        }
    }

    /// Sends what was taken by [`Wire::send`] but is still here. False: not all of it.
    pub fn flush(&mut self) -> io::Result<bool> {
        match self {
            Wire::Clear(_) => Ok(true),
            Wire::Tls(tls) => tls.flush(),
        }
    }

    /// Something was taken by [`Wire::send`] that the socket has not taken yet.
    pub fn has_output(&self) -> bool {
        match self {
            Wire::Clear(_) => false,
            Wire::Tls(tls) => tls.has_output(),
        }
    }

    /// What to wait for when the caller waits for `wanted`.
    pub fn interest(&self, wanted: Interest) -> Interest {
        match self {
            Wire::Tls(tls) if tls.has_output() => wanted.and(Interest::WRITE),
            _ => wanted,
        }
    }

    /// Lets the kernel wake the loop only for so many bytes. Has no effect on TLS, whose records are
    /// smaller than any useful threshold.
    pub fn set_threshold(&self, bytes: i32) -> io::Result<()> {
        match self {
            Wire::Clear(socket) => {
                sys::set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes)
            }
            Wire::Tls(_) => Ok(()),
        }
    }

    /// Ends the connection in good order, as far as that goes without waiting.
    pub fn say_goodbye(&mut self) {
        if let Wire::Tls(tls) = self {
            tls.say_goodbye();
        }
    }
}

impl AsRawFd for Wire {
    fn as_raw_fd(&self) -> RawFd {
        self.socket().as_raw_fd()
    }
}

/// None where a call would have to wait.
pub fn unless_blocked<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}
