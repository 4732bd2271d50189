// SPDX-License-Identifier: Apache-2.0
//! Opens every configured address, and gives its protocol its state.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::json;
use speedtest_net::socket;

use super::parts::Parts;
use super::{contexts, ServeError};
use crate::accept::Accept;
use crate::config::Config;
use crate::http::{self, Service};
use crate::listener::{self, Listener};
use crate::tls::Identity;
use crate::{iperf3, proxied};

/// Listening sockets of one server.
struct Opener<'a> {
    config: &'a Config,
    parts: &'a Parts,
    listener: Arc<listener::Context>,
    proxied: Arc<proxied::Context>,
}

pub fn open(
    config: &Config,
    parts: &Parts,
    identity: Option<&Arc<Identity>>,
) -> Result<(), ServeError> {
    let listener = Arc::new(listener::Context {
        proxies: config.proxies.clone(),
        log: parts.log.clone(),
        clients: Arc::clone(&parts.clients),
        counters: Arc::clone(&parts.counters),
        listening: Arc::clone(&parts.listening),
    });
    let proxied = Arc::new(proxied::Context {
        proxies: config.proxies.clone(),
        clients: Arc::clone(&parts.clients),
        counters: Arc::clone(&parts.counters),
        log: parts.log.clone(),
        most: config.limits.pending(),
    });
    let opener = Opener { config, parts, listener, proxied };
    opener.open_iperf3()?;
    opener.open_http(identity)
}

impl Opener<'_> {
    fn open_iperf3(&self) -> Result<(), ServeError> {
        let (config, parts) = (self.config, self.parts);
        let context = Arc::new(contexts::iperf3(config, parts));
        for (index, listen) in config.iperf3.iter().enumerate() {
            let place = format!("iperf3[{index}].auth");
            let auth =
                listen.auth.as_ref().map(|files| iperf3::Auth::load(&place, files)).transpose()?;
            let accept = iperf3::accept(Arc::clone(&context), Arc::new(listen.clone()), auth);
            let accept = self.named(listen.proxy_protocol, accept);
            // For port 0 the kernel chooses one, and TCP and UDP need the same.
            let address = self.listen("iperf3", listen.listen, accept, iperf3::BUSY)?;
            let (context, listening) = (Arc::clone(&context), Arc::clone(&parts.listening));
            let datagrams = iperf3::DatagramListener::open(address, context, listening)
                .map_err(|error| ServeError::Listen { address, error })?;
            parts.lanes.adopt(self.lane(address), Box::new(datagrams));
        }
        Ok(())
    }

    fn open_http(&self, identity: Option<&Arc<Identity>>) -> Result<(), ServeError> {
        let context = Arc::new(contexts::http(self.config, self.parts)?);
        for listen in &self.config.http {
            let accept = http::accept(Arc::clone(&context), Service::Tests);
            let accept = self.named(listen.proxy_protocol, accept);
            self.listen("http", listen.listen, accept, http::BUSY)?;
        }
        for listen in &self.config.https {
            let Some(identity) = identity else { continue };
            let accept = http::accept_tls(Arc::clone(&context), Arc::clone(identity));
            let accept = self.named(listen.proxy_protocol, accept);
            self.listen("https", listen.listen, accept, b"")?;
        }
        for listen in &self.config.metrics {
            let accept = http::accept(Arc::clone(&context), Service::Metrics);
            let accept = self.named(listen.proxy_protocol, accept);
            self.listen("metrics", listen.listen, accept, http::BUSY)?;
        }
        Ok(())
    }

    /// Wrap a protocol for proxies, whose connections first name their client.
    fn named(&self, proxy_protocol: bool, accept: Accept) -> Accept {
        match proxy_protocol {
            true => proxied::accept(Arc::clone(&self.proxied), accept),
            false => accept,
        }
    }

    /// Listen on an address, and return it with its port. `busy` answers a connection beyond the
    /// limits.
    fn listen(
        &self,
        protocol: &str,
        address: SocketAddr,
        accept: Accept,
        busy: &'static [u8],
    ) -> Result<SocketAddr, ServeError> {
        let failed = |error| ServeError::Listen { address, error };
        let socket = socket::listen(address).map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        let listener = Listener::new(socket, Arc::clone(&self.listener), accept, busy);
        self.parts.lanes.adopt(self.lane(address), Box::new(listener));
        let fields = json!({"protocol": protocol, "address": address.to_string()});
        self.parts.log.info("listening", fields);
        Ok(address)
    }

    fn lane(&self, address: SocketAddr) -> usize {
        usize::from(address.port()) % self.parts.lanes.count()
    }
}
