// SPDX-License-Identifier: Apache-2.0
//! Connections on an address with `proxy_protocol`: they begin with a head that names the client.

use std::io::ErrorKind;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Note, PeerInstant, Ready};
use speedtest_net::sys;
use speedtest_proto::proxy::{Named, ProxyHead};

use crate::accept::{Accept, AcceptedConnection};
use crate::clients::{Clients, Displaced};
use crate::config::Proxies;
use crate::counters::Counters;
use crate::log::Logger;

const READ_BYTES: usize = 256;

/// State that all such addresses share.
pub struct Context {
    pub proxies: Proxies,
    pub clients: Arc<Clients>,
    pub counters: Arc<Counters>,
    pub log: Logger,
    /// Time limit for the whole head.
    pub most: Duration,
}

/// Read the head first, then hand the connection on as the client's.
pub fn accept(context: Arc<Context>, then: Accept) -> Accept {
    Arc::new(move |accepted| {
        let context = Arc::clone(&context);
        if !context.proxies.are_trusted(accepted.peer.ip()) {
            context.refuse(&accepted, "its address is not in proxies.trusted");
            return None;
        }
        let (then, head) = (Arc::clone(&then), ProxyHead::default());
        let deadline = PeerInstant::outside();
        Some(Box::new(Proxied { accepted: Some(accepted), context, then, head, deadline }))
    })
}

impl Context {
    fn refuse(&self, accepted: &AcceptedConnection, why: &str) {
        Counters::add(&self.counters.connections_refused, 1);
        let fields = json!({"peer": accepted.peer.to_string(), "because": why});
        self.log.warn("connection refused", fields);
    }
}

struct Proxied {
    accepted: Option<AcceptedConnection>,
    context: Arc<Context>,
    then: Accept,
    head: ProxyHead,
    deadline: PeerInstant,
}

impl Proxied {
    fn read(&mut self) -> Next {
        let mut buffer = [0; READ_BYTES];
        loop {
            let Some(accepted) = &self.accepted else { return Next::Close };
            let most = self.head.wants().min(READ_BYTES);
            let named = match sys::receive(&accepted.socket, &mut buffer[..most]) {
                Ok(0) => return Next::Close,
                Ok(count) => self.head.receive(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Next::Stay,
                Err(_) => return Next::Close,
            };
            match named {
                Ok(None) => {}
                Ok(Some(named)) => return self.hand_on(named),
                Err(error) => {
                    if let Some(accepted) = &self.accepted {
                        self.context.refuse(accepted, &error.to_string());
                    }
                    return Next::Close;
                }
            }
        }
    }

    fn hand_on(&mut self, named: Named) -> Next {
        let Some(mut accepted) = self.accepted.take() else { return Next::Close };
        if let Named::Client(client) = named {
            let clients = &self.context.clients;
            let Some(connection) = clients.connect(clients.key(client.ip()), true) else {
                Counters::add(&self.context.counters.connections_refused, 1);
                return Next::Close;
            };
            accepted.peer = client;
            accepted.connection = connection;
        }
        match (self.then)(accepted) {
            Some(next) => Next::Become(next),
            None => Next::Close,
        }
    }
}

impl Handler for Proxied {
    fn fd(&self) -> RawFd {
        self.accepted.as_ref().map_or(-1, |accepted| accepted.socket.as_raw_fd())
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        if let Some(accepted) = &mut self.accepted {
            accepted.connection.entered(cx.address());
        }
        self.deadline = cx.peer_now() + self.context.most;
        cx.wake_at(cx.when(self.deadline));
        cx.wait_for(Interest::READ);
        Next::Stay
    }

    fn ready(&mut self, _cx: &mut Cx<'_>, _ready: Ready) -> Next {
        self.read()
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        if cx.peer_now() >= self.deadline {
            return Next::Close;
        }
        cx.wake_at(cx.when(self.deadline));
        Next::Stay
    }

    fn note(&mut self, _cx: &mut Cx<'_>, note: Note) -> Next {
        if note.word() == Some(Displaced) {
            Next::Close
        } else {
            Next::Stay
        }
    }
}
