// SPDX-License-Identifier: Apache-2.0
//! A [`Wire`] as the stream of bytes that an asynchronous library wants, without a runtime.
//!
//! The handler that owns the socket polls the library on every event until nothing moves any more, so
//! nobody has to be woken: `Pending` only means that this turn has nothing more. What the library
//! writes is gathered here and leaves in large pieces, since it flushes after every frame.

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::reactor::Interest;
use crate::wire::Wire;

/// Bytes gathered before the socket is asked to take them.
const GATHER_BYTES: usize = 64 << 10;
/// Bytes that are read before the handler has to consume what the library made of them.
const READ_AT_ONCE: usize = 256 << 10;

/// The handler's end of a connection whose other end is a [`Duplex`].
#[derive(Clone)]
pub struct Link {
    state: Arc<Mutex<State>>,
    fd: RawFd,
}

/// The library's end.
pub struct Duplex(Arc<Mutex<State>>);

struct State {
    wire: Wire,
    gathered: Vec<u8>,
    /// Bytes that may still be read before [`Link::may_read`] is called again.
    readable: usize,
    /// The socket has not taken all that was to be written.
    blocked: bool,
    /// The library was told to wait. It has to be asked again even where the socket has taken all
    /// that was gathered meanwhile: the peer may have nothing more to say until it gets the rest.
    refused: bool,
}

/// Splits a connection into what its handler and what the library needs.
pub fn duplex(wire: Wire) -> (Link, Duplex) {
    let fd = wire.as_raw_fd();
    let state = State {
        wire,
        gathered: Vec::new(),
        readable: READ_AT_ONCE,
        blocked: false,
        refused: false,
    };
    let state = Arc::new(Mutex::new(state));
    (Link { state: Arc::clone(&state), fd }, Duplex(state))
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    pub fn fd(&self) -> RawFd {
        self.fd
    }

    /// Allows the library to read some more. True: it has used up what it was allowed before.
    pub fn may_read(&self) -> bool {
        let mut state = locked(&self.state);
        let used_up = state.readable == 0;
        state.readable = READ_AT_ONCE;
        used_up
    }

    /// Sends what has been gathered, as far as the socket takes it.
    pub fn flush(&self) -> io::Result<()> {
        locked(&self.state).write().map(drop)
    }

    /// Lets the library read nothing until [`Link::may_read`] is called again.
    pub fn pause_reading(&self) {
        locked(&self.state).readable = 0;
    }

    /// What to wait for: more to read, and the next turn as soon as the socket takes something when
    /// this one left something undone.
    pub fn interest(&self, reading: bool, undone: bool) -> Interest {
        let state = locked(&self.state);
        let wanted = if reading { Interest::READ } else { Interest::NOTHING };
        let write = undone || state.blocked || state.refused;
        state.wire.interest(if write { wanted.and(Interest::WRITE) } else { wanted })
    }

    /// Something was written that the socket has not taken yet.
    pub fn has_output(&self) -> bool {
        let state = locked(&self.state);
        !state.gathered.is_empty() || state.wire.has_output()
    }

    /// Drops what has arrived, past the library, which has ended. 0 is the end.
    pub fn discard(&self) -> io::Result<u64> {
        locked(&self.state).wire.discard(u64::MAX)
    }

    pub fn say_goodbye(&self) {
        locked(&self.state).wire.say_goodbye();
    }

    /// Runs `what` with the connection, for looks at its socket.
    pub fn with_wire<T>(&self, what: impl FnOnce(&Wire) -> T) -> T {
        what(&locked(&self.state).wire)
    }
}

impl State {
    /// Sends what has been gathered. False: the socket has not taken all of it.
    fn write(&mut self) -> io::Result<bool> {
        let mut sent = 0;
        self.blocked = false;
        while sent < self.gathered.len() {
            match self.wire.send(&self.gathered[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.blocked = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if self.blocked {
            self.gathered.drain(..sent);
            return Ok(false);
        }
        // An idle connection keeps nothing.
        self.gathered = Vec::new();
        self.wire.flush()
    }
}

impl AsyncRead for Duplex {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = locked(&self.0);
        if state.readable == 0 && !state.wire.has_plain() {
            return Poll::Pending;
        }
        let free = buffer.initialize_unfilled();
        match state.wire.receive(free) {
            Ok(count) => {
                state.readable = state.readable.saturating_sub(count);
                buffer.advance(count);
                Poll::Ready(Ok(()))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl AsyncWrite for Duplex {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut state = locked(&self.0);
        if state.gathered.len() >= GATHER_BYTES {
            match state.write() {
                Ok(true) => {}
                Ok(false) => {
                    state.refused = true;
                    return Poll::Pending;
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        state.refused = false;
        if state.gathered.capacity() < GATHER_BYTES {
            state.gathered.reserve_exact(GATHER_BYTES);
        }
        let mut taken = 0;
        for part in parts {
            let room = GATHER_BYTES - state.gathered.len();
            let now = part.len().min(room);
            state.gathered.extend_from_slice(&part[..now]);
            taken += now;
        }
        Poll::Ready(Ok(taken))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Every frame is followed by a flush; the handler sends at the end of its turn.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match locked(&self.0).write() {
            Ok(_) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::task::Waker;

    use super::*;

    /// A library that was told to wait is asked again, although the peer has read everything by the
    /// time the handler's turn ends: nothing else would ever happen on that connection.
    #[test]
    fn refused_bytes_are_asked_for_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let socket = listener.accept().unwrap().0;
        socket.set_nonblocking(true).unwrap();
        let (link, mut library) = duplex(Wire::Clear(socket));
        let mut context = Context::from_waker(Waker::noop());
        let piece = vec![7; GATHER_BYTES];
        let mut written = 0;
        while let Poll::Ready(count) = Pin::new(&mut library).poll_write(&mut context, &piece) {
            written += count.unwrap();
        }
        assert!(written > GATHER_BYTES);
        let mut read = 0;
        let mut buffer = vec![0; 1 << 20];
        while read < written {
            link.flush().unwrap();
            read += peer.read(&mut buffer).unwrap();
        }
        assert!(!link.has_output());
        assert_eq!(link.interest(true, false), Interest::BOTH);

        assert!(Pin::new(&mut library).poll_write(&mut context, &piece).is_ready());
        link.flush().unwrap();
        assert_eq!(link.interest(true, false), Interest::READ);
    }
}
