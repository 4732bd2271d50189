// SPDX-License-Identifier: Apache-2.0
//! Connection until it is open, TLS handshake included.

use std::io;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};

use speedtest_net::reactor::{Cx, Handler, Interest, Next, Ready};
use speedtest_net::socket;
use speedtest_net::tls::Tls;
use speedtest_net::wire::Wire;

use super::trust::broken_handshake;
use super::{librespeed, ndt7, no_answer, Job, PATIENCE};
use crate::client::Protocol;

enum Stage {
    Connecting(TcpStream),
    Handshake(Box<Tls>),
    /// Used only between two stages.
    Gone,
}

pub struct Dial {
    stage: Stage,
    job: Job,
}

impl Dial {
    pub fn begin(job: Job) -> io::Result<Dial> {
        let socket = socket::connect(job.target.address, &job.target.options)?;
        Ok(Dial { stage: Stage::Connecting(socket), job })
    }

    fn fail(&self, why: &str) -> Next {
        self.job.tell(Err(format!("{}: {why}", self.job.target.authority)));
        Next::Close
    }

    fn open(&self, wire: Wire) -> Next {
        let job = self.job.clone();
        Next::Become(match job.target.protocol {
            Protocol::Librespeed => Box::new(librespeed::Stream::new(wire, job)),
            _ => Box::new(ndt7::Stream::new(wire, job)),
        })
    }

    fn shake_hands(&mut self, cx: &mut Cx<'_>) -> Next {
        let Stage::Handshake(tls) = &mut self.stage else { return Next::Close };
        match tls.handshake(&mut cx.turn) {
            Err(error) => return self.fail(&broken_handshake(&error)),
            Ok(false) => {
                let more = if tls.has_output() { Interest::WRITE } else { Interest::NOTHING };
                cx.wait_for(Interest::READ.and(more));
                return Next::Stay;
            }
            Ok(true) => {}
        }
        match std::mem::replace(&mut self.stage, Stage::Gone) {
            Stage::Handshake(tls) => self.open(Wire::Tls(tls)),
            _ => Next::Close,
        }
    }
}

impl Handler for Dial {
    fn fd(&self) -> RawFd {
        match &self.stage {
            Stage::Connecting(socket) => socket.as_raw_fd(),
            Stage::Handshake(tls) => tls.socket().as_raw_fd(),
            Stage::Gone => -1,
        }
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        cx.wait_for(Interest::WRITE);
        cx.wake_at(cx.now + PATIENCE);
        Next::Stay
    }

    fn timer(&mut self, _cx: &mut Cx<'_>) -> Next {
        self.job.tell(Err(no_answer(PATIENCE)));
        Next::Close
    }

    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next {
        if ready.error() {
            let error = match &self.stage {
                Stage::Connecting(socket) => socket.take_error().ok().flatten(),
                _ => None,
            };
            return self.fail(&error.map_or("the connection broke".into(), |e| e.to_string()));
        }
        let Stage::Connecting(_) = self.stage else { return self.shake_hands(cx) };
        let Stage::Connecting(socket) = std::mem::replace(&mut self.stage, Stage::Gone) else {
            return Next::Close;
        };
        // Requests are written whole; delaying them would only cost latency.
        let _ = socket.set_nodelay(true);
        let Some(trust) = self.job.target.trust.clone() else {
            return self.open(Wire::Clear(socket));
        };
        match Tls::connect(socket, trust.config, trust.name) {
            Ok(tls) => self.stage = Stage::Handshake(Box::new(tls)),
            Err(error) => return self.fail(&error.to_string()),
        }
        self.shake_hands(cx)
    }
}
