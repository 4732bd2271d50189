// SPDX-License-Identifier: Apache-2.0
//! iperf3's protocol on top of the loops.
//!
//! Every connection begins in [`control::Control`] with a cookie. A new cookie opens a test. A
//! known one makes the connection a stream of its test, which moves to the stream's loop.

mod auth;
mod control;
mod datagrams;
mod outcome;
mod policy;
mod running;
mod test;

use std::sync::Arc;
use std::time::Duration;

pub use auth::Auth;
pub use datagrams::DatagramListener;
pub use test::Registry;

use speedtest_net::reactor::Lanes;

use crate::accept::Accept;
use crate::accounts::Accounts;
use crate::admission::Admission;
use crate::config::{Iperf3, Kernel, Limits};
use crate::counters::Counters;
use crate::log::Logger;
use crate::other_load::OtherLoadMeter;
use crate::results::Keeper;
use control::Control;

/// State that the tests of all iperf3 addresses share.
pub struct Context {
    pub limits: Limits,
    /// Interval between two samples of TCP_INFO.
    pub sample_every: Duration,
    pub kernel: Kernel,
    pub log: Logger,
    pub lanes: Lanes,
    pub counters: Arc<Counters>,
    pub admission: Arc<Admission>,
    pub accounts: Arc<Accounts>,
    pub keeper: Arc<Keeper>,
    pub other_load: Arc<OtherLoadMeter>,
    pub tests: Registry,
}

/// The state ACCESS_DENIED: a client reports that the server is busy.
pub const BUSY: &[u8] = b"\xff";

/// Make the handlers of connections to one iperf3 address.
pub fn accept(shared: Arc<Context>, listen: Arc<Iperf3>, auth: Option<Auth>) -> Accept {
    let auth = auth.map(Arc::new);
    Arc::new(move |accepted| {
        let (shared, listen) = (Arc::clone(&shared), Arc::clone(&listen));
        Some(Box::new(Control::new(accepted, shared, listen, auth.clone())))
    })
}
