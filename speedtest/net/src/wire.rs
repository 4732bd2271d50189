// SPDX-License-Identifier: Apache-2.0
//! Connection in clear text or TLS, with the same calls for both.
//!
//! Every call returns at once. [`ErrorKind::WouldBlock`] means: wait for [`Wire::interest`], or the
//! [`Turn`] has run out. Read until `WouldBlock`: epoll does not report decrypted bytes.

use std::io::{self, ErrorKind, IoSlice};
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd, RawFd};

use crate::reactor::Interest;
use crate::sys;
use crate::tls::Tls;
use crate::turn::{Turn, Work};

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

    /// Return the protocol that a TLS handshake agreed on.
    pub fn alpn(&self) -> Option<&[u8]> {
        match self {
            Wire::Clear(_) => None,
            Wire::Tls(tls) => tls.alpn(),
        }
    }

    /// Read; 0 is the end.
    pub fn receive(&mut self, buffer: &mut [u8], turn: &mut Turn) -> io::Result<usize> {
        let room = turn.room(Work::Parsed, buffer.len())?;
        let count = self.receive_bulk(&mut buffer[..room], turn)?;
        turn.spend(Work::Parsed, count as u64);
        Ok(count)
    }

    /// Read bytes that are only counted: they cost time for copying and TLS only.
    pub fn receive_bulk(&mut self, buffer: &mut [u8], turn: &mut Turn) -> io::Result<usize> {
        match self {
            Wire::Clear(socket) => {
                let room = turn.room(Work::Copied, buffer.len())?;
                let count = sys::receive(socket, &mut buffer[..room])?;
                turn.spend(Work::Copied, count as u64);
                Ok(count)
            }
            Wire::Tls(tls) => tls.receive(buffer, turn),
        }
    }

    /// Return whether decrypted bytes can be read without the socket.
    pub fn has_plain(&self) -> bool {
        match self {
            Wire::Clear(_) => false,
            Wire::Tls(tls) => tls.has_plain(),
        }
    }

    /// Drop up to `most` bytes, in the kernel for clear text. 0 is the end.
    pub fn discard(&mut self, most: u64, turn: &mut Turn) -> io::Result<u64> {
        match self {
            Wire::Clear(socket) => discard(socket, most, turn),
            Wire::Tls(tls) => tls.discard(most, turn),
        }
    }

    /// Send the start of `bytes` and return its length.
    pub fn send(&mut self, bytes: &[u8], turn: &mut Turn) -> io::Result<usize> {
        match self {
            Wire::Clear(_) => {
                let room = turn.room(Work::Copied, bytes.len())?;
                self.send_parts(&[IoSlice::new(&bytes[..room])], turn)
            }
            Wire::Tls(tls) => tls.send(bytes, turn),
        }
    }

    /// Send the start of all `parts` together and return its length. The caller passes about as
    /// much as the turn has left.
    pub fn send_parts(&mut self, parts: &[IoSlice<'_>], turn: &mut Turn) -> io::Result<usize> {
        match self {
            Wire::Clear(socket) => {
                if turn.may(Work::Copied, 1) == 0 || !turn.take(Work::Sends) {
                    return Err(ErrorKind::WouldBlock.into());
                }
                let count = sys::send_parts(socket, parts)?;
                turn.spend(Work::Copied, count as u64);
                Ok(count)
            }
            Wire::Tls(tls) => {
                let first = parts.iter().find(|part| !part.is_empty());
                first.map_or(Ok(0), |part| tls.send(part, turn))
            }
        }
    }

    /// Send output that [`Wire::send`] accepted. Return false if some is left.
    pub fn flush(&mut self) -> io::Result<bool> {
        match self {
            Wire::Clear(_) => Ok(true),
            Wire::Tls(tls) => tls.flush(),
        }
    }

    /// Return whether the socket has not taken all that [`Wire::send`] accepted.
    pub fn has_output(&self) -> bool {
        match self {
            Wire::Clear(_) => false,
            Wire::Tls(tls) => tls.has_output(),
        }
    }

    /// Return the events to wait for when the caller waits for `wanted`.
    pub fn interest(&self, wanted: Interest) -> Interest {
        match self {
            Wire::Tls(tls) if tls.has_output() => wanted.and(Interest::WRITE),
            _ => wanted,
        }
    }

    /// Set SO_RCVLOWAT. It has no effect on TLS, whose records are smaller than any useful
    /// threshold.
    pub fn set_threshold(&self, bytes: i32) -> io::Result<()> {
        match self {
            Wire::Clear(socket) => {
                sys::set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes)
            }
            Wire::Tls(_) => Ok(()),
        }
    }

    /// Send TLS's close_notify, if the socket takes it at once; clear text has none.
    pub fn close_notify(&mut self) {
        if let Wire::Tls(tls) = self {
            tls.close_notify();
        }
    }
}

impl AsRawFd for Wire {
    fn as_raw_fd(&self) -> RawFd {
        self.socket().as_raw_fd()
    }
}

/// Drop up to `most` bytes of a TCP socket's queue inside the kernel. 0 is the end.
pub(crate) fn discard(fd: impl AsFd, most: u64, turn: &mut Turn) -> io::Result<u64> {
    let room = turn.room(Work::Dropped, usize::try_from(most).unwrap_or(usize::MAX))?;
    let count = sys::discard(fd, room)? as u64;
    turn.spend(Work::Dropped, count);
    Ok(count)
}

/// Return None if a call would have to wait.
pub fn unless_blocked<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}
