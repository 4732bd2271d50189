// SPDX-License-Identifier: Apache-2.0
//! UDP socket of each iperf3 address: every connect message gets a connected socket of its own.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use speedtest_net::reactor::{Cx, Handler, Interest, Next, Note, Ready};
use speedtest_net::socket;
use speedtest_net::turn::Work;
use speedtest_proto::iperf3::udp::{is_connect, CONNECT_REPLY};

use super::test::{Joining, Link};
use super::Context;
use crate::accept::{Listening, StopListening};

pub struct DatagramListener {
    socket: UdpSocket,
    address: SocketAddr,
    shared: Arc<Context>,
    listening: Arc<Listening>,
    arrivals: u64,
}

impl DatagramListener {
    pub fn open(
        address: SocketAddr,
        shared: Arc<Context>,
        listening: Arc<Listening>,
    ) -> io::Result<DatagramListener> {
        let socket = socket::bind_udp(address)?;
        Ok(DatagramListener { socket, address, shared, listening, arrivals: 0 })
    }

    /// Handle a connect message. It belongs to the only test that is opening streams for this
    /// client's address.
    fn connect(&mut self, cx: &Cx<'_>, peer: SocketAddr) -> io::Result<()> {
        let Some(test) = self.shared.tests.opening_datagrams(peer.ip()) else { return Ok(()) };
        let socket = socket::bind_udp(self.address)?;
        socket.connect(peer)?;
        socket.send(&CONNECT_REPLY)?;
        self.arrivals += 1;
        let arrival = self.arrivals;
        test.join(cx.lanes, Joining { link: Link::Udp(socket), guard: Box::new(()), arrival });
        Ok(())
    }
}

impl Handler for DatagramListener {
    fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        self.listening.add(cx.address());
        cx.wait_for(Interest::READ);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
        let mut datagram = [0; 16];
        // Each connect message may take a new socket, as a request does.
        while cx.turn.may(Work::Requests, 1) == 1 && cx.turn.take(Work::Datagrams) {
            match self.socket.recv_from(&mut datagram) {
                Ok((bytes, peer)) if is_connect(&datagram[..bytes]) => {
                    cx.turn.spend(Work::Requests, 1);
                    if let Err(error) = self.connect(cx, peer) {
                        let fields = serde_json::json!({"error": error.to_string()});
                        self.shared.log.warn("cannot open a UDP stream", fields);
                    }
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // A peer rejected a reply; this socket continues.
                Err(_) => {}
            }
        }
        Next::Stay
    }

    fn note(&mut self, _cx: &mut Cx<'_>, note: Note) -> Next {
        if note.word() == Some(StopListening) {
            Next::Close
        } else {
            Next::Stay
        }
    }
}
