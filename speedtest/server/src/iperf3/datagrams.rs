// SPDX-License-Identifier: Apache-2.0
//! The UDP socket beside each iperf3 address: every hello becomes a connected socket of its own.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use speedtest_net::reactor::{Cx, Handler, Interest, Next, Note, Ready};
use speedtest_net::socket;
use speedtest_proto::iperf3::udp::{is_hello, ANSWER};

use super::test::{Joining, Link};
use crate::shared::Shared;

const MOST_AT_ONCE: usize = 64;

pub struct DatagramListener {
    socket: UdpSocket,
    address: SocketAddr,
    shared: Arc<Shared>,
    arrivals: u64,
}

impl DatagramListener {
    pub fn open(address: SocketAddr, shared: Arc<Shared>) -> io::Result<DatagramListener> {
        Ok(DatagramListener { socket: socket::bind_udp(address)?, address, shared, arrivals: 0 })
    }

    /// A hello belongs to the test that this client's address is opening streams for; there is one.
    fn hello(&mut self, cx: &Cx<'_>, peer: SocketAddr) -> io::Result<()> {
        let Some(test) = self.shared.tests.opening_datagrams(peer.ip()) else { return Ok(()) };
        let socket = socket::bind_udp(self.address)?;
        socket.connect(peer)?;
        socket.send(&ANSWER)?;
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
        self.shared.add_listener(cx.address());
        cx.wait_for(Interest::READ);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
        let mut datagram = [0; 16];
        for _ in 0..MOST_AT_ONCE {
            match self.socket.recv_from(&mut datagram) {
                Ok((bytes, peer)) if is_hello(&datagram[..bytes]) => {
                    if let Err(error) = self.hello(cx, peer) {
                        let fields = serde_json::json!({"error": error.to_string()});
                        self.shared.log.warn("cannot open a UDP stream", fields);
                    }
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // An answer that a peer did not take shows here; it is not this socket's business.
                Err(_) => {}
            }
        }
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
