// SPDX-License-Identifier: Apache-2.0
//! A [`Wire`] as the stream of bytes that an asynchronous library wants, without a runtime.
//!
//! The handler that owns the socket polls the library on every event until nothing moves. No task
//! has to be woken: `Pending` only means that this turn has nothing more. The library flushes after
//! every frame, so its output is gathered here and leaves in large pieces.
//!
//! The library would handle every frame that has arrived. So it gets only as many frames as the
//! turn allows; the rest is held back for the next turn. A peer that floods it with overhead frames
//! is no longer read.

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use speedtest_proto::http2::{Allowance, Frames};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::reactor::Interest;
use crate::turn::{Turn, Work};
use crate::wire::Wire;

/// Bytes gathered before they are written to the socket.
const GATHER_BYTES: usize = 64 << 10;
/// Bytes to read before the handler must consume what the library produced.
const READ_AT_ONCE: usize = 256 << 10;

/// Handler's endpoint of a connection whose other endpoint is a [`Duplex`].
#[derive(Clone)]
pub struct Link {
    state: Arc<Mutex<State>>,
    fd: RawFd,
}

/// Library's endpoint.
pub struct Duplex(Arc<Mutex<State>>);

struct State {
    wire: Wire,
    /// Turn, lent by the handler.
    turn: Turn,
    frames: Frames,
    allowance: Allowance,
    /// The peer has exceeded its frame allowance.
    flooded: bool,
    /// Bytes read but held back from the library.
    held: Vec<u8>,
    gathered: Vec<u8>,
    /// Bytes that may be read before [`Link::may_read`] is called again.
    readable: usize,
    /// The socket has not taken all pending output.
    blocked: bool,
    /// The library got `Pending` and must be polled again, even if the socket has taken all
    /// gathered output since: the peer may send nothing more until it gets the rest.
    refused: bool,
}

/// Split a connection into the handler's and the library's endpoints.
pub fn duplex(wire: Wire) -> (Link, Duplex) {
    let fd = wire.as_raw_fd();
    let state = State {
        wire,
        turn: Turn::default(),
        frames: Frames::default(),
        allowance: Allowance::default(),
        flooded: false,
        held: Vec::new(),
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

    /// Begin a turn; [`Link::end`] ends it.
    pub fn begin(&self, turn: Turn, now: Instant) {
        let mut state = locked(&self.state);
        state.turn = turn;
        state.allowance.pass_time(now);
    }

    /// End the turn; return its remaining budget.
    pub fn end(&self) -> Turn {
        std::mem::take(&mut locked(&self.state).turn)
    }

    /// Run `what` with the budget of the current turn.
    pub fn with_turn<T>(&self, what: impl FnOnce(&mut Turn) -> T) -> T {
        what(&mut locked(&self.state).turn)
    }

    /// Allow the library to read more. Return true if it had used up its previous allowance.
    pub fn may_read(&self) -> bool {
        let mut state = locked(&self.state);
        let used_up = state.readable == 0;
        state.readable = READ_AT_ONCE;
        used_up
    }

    /// Send gathered output as far as the socket takes it.
    pub fn flush(&self) -> io::Result<()> {
        locked(&self.state).write().map(drop)
    }

    /// Stop the library's reads until [`Link::may_read`] is called again.
    pub fn pause_reading(&self) {
        locked(&self.state).readable = 0;
    }

    /// Return whether the peer has exceeded its allowance of overhead frames; it is no longer read.
    pub fn is_flooded(&self) -> bool {
        locked(&self.state).flooded
    }

    /// Return the events to wait for: input, and space for output that the socket or the turn
    /// refused.
    pub fn interest(&self, reading: bool) -> Interest {
        let state = locked(&self.state);
        let wanted = if reading { Interest::READ } else { Interest::NOTHING };
        let write = state.blocked || state.refused;
        state.wire.interest(if write { wanted.and(Interest::WRITE) } else { wanted })
    }

    /// Return whether the socket has not taken all output yet.
    pub fn has_output(&self) -> bool {
        let state = locked(&self.state);
        !state.gathered.is_empty() || state.wire.has_output()
    }

    /// Drop received bytes after the library has ended. 0 is the end.
    pub fn discard(&self) -> io::Result<u64> {
        let state = &mut *locked(&self.state);
        state.wire.discard(u64::MAX, &mut state.turn)
    }

    pub fn close_notify(&self) {
        locked(&self.state).wire.close_notify();
    }

    /// Run `what` with the connection, to inspect its socket.
    pub fn with_wire<T>(&self, what: impl FnOnce(&Wire) -> T) -> T {
        what(&locked(&self.state).wire)
    }
}

impl State {
    /// Send gathered output. Return false if the socket has not taken all of it.
    fn write(&mut self) -> io::Result<bool> {
        let mut sent = 0;
        self.blocked = false;
        while sent < self.gathered.len() {
            match self.wire.send(&self.gathered[sent..], &mut self.turn) {
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
        // An idle connection keeps no buffer.
        self.gathered = Vec::new();
        self.wire.flush()
    }
}

impl State {
    /// Read within the allowance, held-back bytes first.
    fn read(&mut self, free: &mut [u8]) -> io::Result<usize> {
        if self.readable == 0 || self.flooded {
            return Err(ErrorKind::WouldBlock.into());
        }
        let count = if self.held.is_empty() {
            self.wire.receive_bulk(free, &mut self.turn)?
        } else {
            let count = free.len().min(self.held.len());
            free[..count].copy_from_slice(&self.held[..count]);
            self.held.drain(..count);
            count
        };
        let passed = self.admit(&free[..count]);
        self.held.splice(0..0, free[passed..count].iter().copied());
        self.readable = self.readable.saturating_sub(passed);
        match passed {
            0 if count > 0 => Err(ErrorKind::WouldBlock.into()),
            passed => Ok(passed),
        }
    }

    /// Return how many of these bytes belong to frames that fit into this turn.
    fn admit(&mut self, bytes: &[u8]) -> usize {
        let mut passed = 0;
        while passed < bytes.len() && !self.flooded {
            if self.frames.between() {
                let parsed = self.turn.may(Work::Parsed, 1) == 1;
                if !parsed || !self.turn.take(Work::Frames) {
                    break;
                }
            }
            let used = self.frames.pass(&bytes[passed..]);
            if self.frames.in_data() {
                self.allowance.earn(used as u64);
            } else {
                self.turn.spend(Work::Parsed, used as u64);
            }
            self.flooded = self.frames.was_overhead() && !self.allowance.take();
            passed += used;
        }
        passed
    }
}

impl AsyncRead for Duplex {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match locked(&self.0).read(buffer.initialize_unfilled()) {
            Ok(count) => {
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
        state.allowance.earn(taken as u64);
        Poll::Ready(Ok(taken))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Do nothing: the library flushes after every frame, and the handler sends at the end of its
    /// turn.
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
    use std::time::Duration;

    use super::*;

    /// Poll a library again that got `Pending`, even if the peer has read everything before the
    /// turn ends: no other event would come on that connection.
    #[test]
    fn refused_bytes_are_asked_for_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        peer.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let socket = listener.accept().unwrap().0;
        socket.set_nonblocking(true).unwrap();
        let (link, mut library) = duplex(Wire::Clear(socket));
        let mut context = Context::from_waker(Waker::noop());
        let piece = vec![7; GATHER_BYTES];
        let mut written = 0;
        while let Poll::Ready(count) = Pin::new(&mut library).poll_write(&mut context, &piece) {
            written += count.unwrap();
            link.begin(Turn::default(), Instant::now());
        }
        assert!(written > GATHER_BYTES);
        let mut read = 0;
        let mut buffer = vec![0; 1 << 20];
        while read < written {
            link.begin(Turn::default(), Instant::now());
            link.flush().unwrap();
            read += peer.read(&mut buffer).unwrap();
        }
        assert!(!link.has_output());
        assert_eq!(link.interest(true), Interest::BOTH);

        link.begin(Turn::default(), Instant::now());
        assert!(Pin::new(&mut library).poll_write(&mut context, &piece).is_ready());
        link.flush().unwrap();
        assert_eq!(link.interest(true), Interest::READ);
    }
}
