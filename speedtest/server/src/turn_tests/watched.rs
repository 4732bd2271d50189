// SPDX-License-Identifier: Apache-2.0
//! Handler around another one: feeds it, and records each of its turns.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use speedtest_net::bulk::{Order, Stream};
use speedtest_net::look::is_delivered;
use speedtest_net::reactor::{Cx, Handler, Lane, Lanes, Next, Note, Ready};
use speedtest_net::sys;

/// Rounds without an event, after all pieces have arrived, until a handler counts as idle.
const IDLE_ROUNDS: u32 = 20;
/// Pieces fed in one round: more than a turn takes.
const FED_AT_ONCE: usize = 100;
/// A run that takes longer hangs; it takes milliseconds.
const LIMIT: Duration = Duration::from_secs(60);

/// One turn.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    /// Bytes that the handler took from its socket.
    pub read: u64,
    /// Bytes that arrived at the peer.
    pub sent: Vec<u8>,
}

/// Peer of the handler's socket.
pub enum Peer {
    Tcp(TcpStream),
    Udp(UdpSocket, Arc<Stream>),
}

impl Peer {
    /// Send a piece to the handler's socket; return the rest that does not fit.
    fn feed(&mut self, handler: RawFd, piece: Vec<u8>, begun: Instant) -> Option<Vec<u8>> {
        match self {
            Peer::Udp(socket, _) => {
                let before = sys::received_memory(handler).unwrap();
                socket.send(&piece).unwrap();
                // An order after it must not overtake it: the kernel may deliver it later.
                while sys::received_memory(handler).unwrap() == before {
                    assert!(begun.elapsed() < LIMIT, "a datagram did not arrive");
                    std::hint::spin_loop();
                }
                None
            }
            Peer::Tcp(socket) => match socket.write(&piece) {
                Ok(count) if count < piece.len() => Some(piece[count..].to_vec()),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Some(piece),
                // The handler has closed, as it may.
                _ => None,
            },
        }
    }

    /// Return what the handler has sent; all of it while its socket is open.
    fn received(&mut self, handler: Option<RawFd>, begun: Instant) -> Vec<u8> {
        let mut bytes = Vec::new();
        let Peer::Tcp(socket) = self else { return bytes };
        loop {
            // Ends with `WouldBlock`.
            let _ = socket.read_to_end(&mut bytes);
            let Some(handler) = handler else { return bytes };
            // Not `is_delivered`: an acknowledgement may come 40 ms after what it is for.
            let out = sys::tcp_info(handler).unwrap();
            let sent = out.bytes_sent - out.bytes_retrans + u64::from(out.notsent_bytes);
            if arrived(socket.as_raw_fd()) >= sent && sys::unread(socket.as_raw_fd()) == 0 {
                return bytes;
            }
            assert!(begun.elapsed() < LIMIT, "{} of {sent} bytes arrived", bytes.len());
        }
    }
}

/// Bytes that the kernel has received for a TCP socket.
fn arrived(fd: RawFd) -> u64 {
    sys::tcp_info(fd).unwrap().bytes_received
}

struct Watched {
    inner: Box<dyn Handler>,
    peer: Peer,
    pieces: VecDeque<Vec<u8>>,
    fed: usize,
    orders: VecDeque<(usize, Order)>,
    idle: u32,
    begun: Instant,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// Stands in for a handler that becomes another one.
struct Nobody;

impl Handler for Nobody {
    fn fd(&self) -> RawFd {
        -1
    }
    fn enter(&mut self, _cx: &mut Cx<'_>) -> Next {
        Next::Close
    }
    fn ready(&mut self, _cx: &mut Cx<'_>, _ready: Ready) -> Next {
        Next::Close
    }
}

impl Watched {
    /// Bytes that the handler has taken from its socket since the connection began.
    fn taken(&self) -> u64 {
        match &self.peer {
            Peer::Tcp(_) => loop {
                // What arrives during a turn is unread after it: the queue's length is not enough.
                let before = arrived(self.inner.fd());
                let unread = sys::unread(self.inner.fd());
                if arrived(self.inner.fd()) == before {
                    break before - unread;
                }
            },
            // The stream itself counts: the kernel reports one datagram only.
            Peer::Udp(_, stream) => stream.bytes(),
        }
    }

    /// Return whether the handler may still get something to read: with more pieces under way than
    /// the congestion window has, the peer's kernel waits for acknowledgements.
    fn in_flight(&self) -> bool {
        match &self.peer {
            Peer::Tcp(peer) => !is_delivered(peer.as_raw_fd()),
            Peer::Udp(..) => false,
        }
    }

    fn turn(
        &mut self,
        cx: &mut Cx<'_>,
        call: impl FnOnce(&mut dyn Handler, &mut Cx<'_>) -> Next,
    ) -> Next {
        let before = self.taken();
        let mut next = call(self.inner.as_mut(), cx);
        let over = loop {
            self.inner = match next {
                Next::Stay | Next::Again => break false,
                Next::Close => break true,
                Next::Become(handler) => handler,
                Next::Succeed => {
                    let inner = std::mem::replace(&mut self.inner, Box::new(Nobody));
                    match inner.succeed() {
                        Some(handler) => handler,
                        None => break true,
                    }
                }
            };
            next = self.inner.enter(cx);
        };
        // `Nobody` has none: the last handler has gone, and its socket with it.
        let socket = Some(self.inner.fd()).filter(|fd| *fd >= 0);
        let read = socket.map_or(0, |_| self.taken() - before);
        let sent = self.peer.received(socket, self.begun);
        if read > 0 || !sent.is_empty() {
            self.idle = 0;
            self.seen.lock().unwrap().push(Seen { read, sent });
        }
        if over {
            cx.lanes.stop();
            return Next::Close;
        }
        next
    }

    fn feed(&mut self, cx: &mut Cx<'_>) {
        for _ in 0..FED_AT_ONCE {
            while self.orders.front().is_some_and(|(at, _)| *at <= self.fed) {
                if let Some((_, order)) = self.orders.pop_front() {
                    cx.lanes.tell(cx.address(), order);
                }
            }
            let Some(piece) = self.pieces.pop_front() else { break };
            match self.peer.feed(self.inner.fd(), piece, self.begun) {
                None => self.fed += 1,
                Some(rest) => {
                    self.pieces.push_front(rest);
                    break;
                }
            }
        }
    }
}

impl Handler for Watched {
    fn fd(&self) -> RawFd {
        self.inner.fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        cx.wake_at(cx.now);
        self.turn(cx, |inner, cx| inner.enter(cx))
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        self.turn(cx, |inner, cx| inner.ready(cx, ready))
    }

    fn again(&mut self, cx: &mut Cx<'_>) -> Next {
        self.turn(cx, |inner, cx| inner.again(cx))
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        let next = self.turn(cx, |inner, cx| inner.timer(cx));
        self.feed(cx);
        self.idle += u32::from(self.pieces.is_empty() && !self.in_flight());
        if self.idle > IDLE_ROUNDS {
            cx.lanes.stop();
        }
        assert!(self.begun.elapsed() < LIMIT, "{} pieces not fed, or not read", self.pieces.len());
        cx.wake_at(cx.now);
        next
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        self.turn(cx, |inner, cx| inner.note(cx, note))
    }
}

/// Run a handler in a loop until nothing happens any more; `orders` follow after a number of
/// pieces.
pub fn watch(
    lanes: &Lanes,
    inner: Box<dyn Handler>,
    peer: Peer,
    pieces: Vec<Vec<u8>>,
    orders: &[(usize, Order)],
) -> Vec<Seen> {
    let seen = Arc::default();
    let (pieces, orders) = (pieces.into(), orders.iter().copied().collect());
    let lane = Lane::new(0, lanes.clone()).unwrap();
    let begun = Instant::now();
    let watched =
        Watched { inner, peer, pieces, fed: 0, orders, idle: 0, begun, seen: Arc::clone(&seen) };
    lanes.adopt(0, Box::new(watched));
    lane.run().unwrap();
    let seen = seen.lock().unwrap().clone();
    seen
}
