// SPDX-License-Identifier: Apache-2.0
//! Accepts connections and hands them to the loops in turn.
//!
//! One socket listens for each address, not one a loop: iperf3 tells the streams of a bidirectional test
//! apart by the order in which they connect, and that order exists only within one queue.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Note, Ready};

use crate::clients::Connection;
use crate::shared::{Counters, Shared};

/// Accepted in one turn, so that the tests of the loop are not held up.
const MOST_AT_ONCE: usize = 32;
/// Rest after the process ran out of descriptors or memory.
const REST: Duration = Duration::from_millis(100);

/// Someone who has just connected.
pub struct Guest {
    pub socket: TcpStream,
    pub peer: SocketAddr,
    pub connection: Connection,
    /// Counts up in the order of the listening socket's queue.
    pub arrival: u64,
}

/// Makes the first handler of an accepted connection; none closes it.
pub type Greet = Box<dyn Fn(Guest) -> Option<Box<dyn Handler>> + Send>;

pub struct Listener {
    socket: TcpListener,
    shared: Arc<Shared>,
    greet: Greet,
    arrivals: u64,
}

impl Listener {
    pub fn new(socket: TcpListener, shared: Arc<Shared>, greet: Greet) -> Listener {
        Listener { socket, shared, greet, arrivals: 0 }
    }

    fn welcome(&mut self, cx: &Cx<'_>, socket: TcpStream, peer: SocketAddr) {
        let limits = &self.shared.config.limits;
        let most = match limits.connections {
            0 => self.shared.most_connections,
            limit => limit.min(self.shared.most_connections),
        };
        // Behind a proxy are many clients.
        let most_of_one = match self.shared.config.proxies.are_trusted(peer.ip()) {
            true => 0,
            false => limits.connections_per_client,
        };
        let counted = self.shared.clients.connect(peer.ip(), most, most_of_one);
        let Some(connection) = counted else {
            Counters::add(&self.shared.counters.connections_refused, 1);
            return;
        };
        Counters::add(&self.shared.counters.connections_accepted, 1);
        if socket.set_nonblocking(true).is_ok() {
            self.arrivals += 1;
            let arrival = self.arrivals;
            let lane = arrival as usize % cx.lanes.count();
            if let Some(first) = (self.greet)(Guest { socket, peer, connection, arrival }) {
                cx.lanes.adopt(lane, first);
            }
        }
    }
}

impl Handler for Listener {
    fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        self.shared.add_listener(cx.address());
        cx.wait_for(Interest::READ);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
        for _ in 0..MOST_AT_ONCE {
            match self.socket.accept() {
                Ok((socket, peer)) => self.welcome(cx, socket, peer),
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN) => break,
                    Some(libc::ECONNABORTED | libc::EINTR | libc::EPROTO) => {}
                    _ => {
                        let fields = json!({"error": error.to_string()});
                        self.shared.log.warn("cannot accept, resting", fields);
                        cx.wait_for(Interest::NOTHING);
                        cx.wake_at(cx.now + REST);
                        break;
                    }
                },
            }
        }
        Next::Stay
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        cx.wait_for(Interest::READ);
        Next::Stay
    }

    fn note(&mut self, _cx: &mut Cx<'_>, note: Note) -> Next {
        if note == Note::Close {
            Next::Close
        } else {
            Next::Stay
        }
    }
}
