// SPDX-License-Identifier: Apache-2.0
//! Accepts connections and distributes them over the loops in turn.
//!
//! One socket listens for each address, not one per loop. iperf3 distinguishes the streams of a
//! bidirectional test by the order in which they connect, and that order exists only within one
//! queue.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Note, Ready};
use speedtest_net::turn::Work;

use crate::accept::{Accept, AcceptedConnection, Listening, StopListening};
use crate::clients::Clients;
use crate::config::Proxies;
use crate::counters::Counters;
use crate::log::Logger;

/// Pause after the process ran out of descriptors or memory.
const PAUSE: Duration = Duration::from_millis(100);

/// State that all listeners share.
pub struct Context {
    pub proxies: Proxies,
    pub log: Logger,
    pub clients: Arc<Clients>,
    pub counters: Arc<Counters>,
    pub listening: Arc<Listening>,
}

pub struct Listener {
    socket: TcpListener,
    shared: Arc<Context>,
    accept: Accept,
    /// Answer, in its protocol, to a connection for which there is no room.
    busy: &'static [u8],
    arrivals: u64,
}

impl Listener {
    pub fn new(
        socket: TcpListener,
        shared: Arc<Context>,
        accept: Accept,
        busy: &'static [u8],
    ) -> Listener {
        Listener { socket, shared, accept, busy, arrivals: 0 }
    }

    /// Accept all connections that have arrived, as far as this turn allows.
    fn accept_arrived(&mut self, cx: &mut Cx<'_>) -> io::Result<()> {
        while cx.turn.take(Work::Accepted) {
            match self.socket.accept() {
                Ok((socket, peer)) => self.admit(cx, socket, peer),
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN) => break,
                    Some(libc::ECONNABORTED | libc::EINTR | libc::EPROTO) => {}
                    _ => return Err(error),
                },
            }
        }
        Ok(())
    }

    fn admit(&mut self, cx: &Cx<'_>, socket: TcpStream, peer: SocketAddr) {
        // A proxy has many clients.
        let bounded = !self.shared.proxies.are_trusted(peer.ip());
        let clients = &self.shared.clients;
        let counted = clients.connect(clients.key(peer.ip()), bounded);
        let Some(connection) = counted else {
            Counters::add(&self.shared.counters.connections_refused, 1);
            // The send buffer is empty, so this does not wait; a client that has gone needs no
            // answer.
            let _ = (&socket).write(self.busy);
            return;
        };
        Counters::add(&self.shared.counters.connections_accepted, 1);
        if socket.set_nonblocking(true).is_ok() {
            self.arrivals += 1;
            let arrival = self.arrivals;
            let lane = arrival as usize % cx.lanes.count();
            if let Some(first) =
                (self.accept)(AcceptedConnection { socket, peer, connection, arrival })
            {
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
        self.shared.listening.add(cx.address());
        cx.wait_for(Interest::READ);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
        if let Err(error) = self.accept_arrived(cx) {
            let fields = json!({"error": error.to_string()});
            self.shared.log.warn("cannot accept, pausing", fields);
            cx.wait_for(Interest::NOTHING);
            cx.wake_at(cx.now + PAUSE);
        }
        Next::Stay
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        cx.wait_for(Interest::READ);
        Next::Stay
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        if note.word() != Some(StopListening) {
            return Next::Stay;
        }
        // Streams of a test that may finish are connected already, for their client; closing resets
        // connections that nobody has accepted.
        let _ = self.accept_arrived(cx);
        Next::Close
    }
}
