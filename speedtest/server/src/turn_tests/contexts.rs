// SPDX-License-Identifier: Apache-2.0
//! Protocols of a server with the default settings.

use std::sync::Arc;

use speedtest_net::reactor::Lanes;

use crate::config::{Config, Kernel};
use crate::serve::contexts;
use crate::serve::parts::Parts;
use crate::{http, iperf3};

pub struct Contexts {
    pub http: Arc<http::Context>,
    pub iperf3: Arc<iperf3::Context>,
}

impl Contexts {
    pub fn new() -> Contexts {
        let (config, lanes) = (Config::default(), Lanes::new(1).unwrap());
        let parts = Parts::new(&config, Kernel::of_this_host(false), lanes, 64);
        Contexts {
            http: Arc::new(contexts::http(&config, &parts).unwrap()),
            iperf3: Arc::new(contexts::iperf3(&config, &parts)),
        }
    }
}
