// SPDX-License-Identifier: Apache-2.0
//! Data connection until it has sent its cookie; then it is a bulk stream.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use speedtest_net::bulk::{Event, Sink, Source, Spec, Stream};
use speedtest_net::options::Options;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Ready};
use speedtest_net::{socket, sys};
use speedtest_proto::iperf3::Cookie;

pub struct Dialing {
    socket: Option<TcpStream>,
    cookie: Cookie,
    said: usize,
    sends: bool,
    spec: Spec,
    shared: Arc<Stream>,
}

impl Dialing {
    pub fn begin(
        address: SocketAddr,
        options: &Options,
        cookie: Cookie,
        sends: bool,
        spec: Spec,
        shared: Arc<Stream>,
    ) -> std::io::Result<Dialing> {
        let socket = Some(socket::connect(address, options)?);
        Ok(Dialing { socket, cookie, said: 0, sends, spec, shared })
    }

    fn become_stream(&mut self) -> Next {
        let Some(socket) = self.socket.take() else { return Next::Close };
        let (spec, shared) = (self.spec.clone(), Arc::clone(&self.shared));
        Next::Become(if self.sends {
            Box::new(Source::new(socket, spec, shared, Box::new(())))
        } else {
            Box::new(Sink::new(socket, spec, shared, Box::new(())))
        })
    }
}

impl Handler for Dialing {
    fn fd(&self) -> RawFd {
        self.socket.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        cx.wait_for(Interest::WRITE);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        if ready.error() || ready.hung_up() {
            cx.lanes.tell(self.spec.owner, Event::Refused);
            return Next::Close;
        }
        let Some(socket) = &self.socket else { return Next::Close };
        match sys::send(socket, &self.cookie.as_bytes()[self.said..], false) {
            Ok(count) => self.said += count,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Next::Stay,
            Err(_) => {
                cx.lanes.tell(self.spec.owner, Event::Refused);
                return Next::Close;
            }
        }
        if self.said < self.cookie.as_bytes().len() {
            return Next::Stay;
        }
        cx.wait_for(Interest::NOTHING);
        self.become_stream()
    }
}
