// SPDX-License-Identifier: Apache-2.0
//! iperf3's protocol on top of the loops.
//!
//! Every connection begins in [`control::Control`] with a cookie. One that no running test knows opens
//! a test; any other becomes a stream of its test and moves to the loop that shall carry it.

mod auth;
mod control;
mod datagrams;
mod outcome;
mod policy;
mod running;
mod test;

use std::sync::Arc;

pub use auth::Auth;
pub use datagrams::DatagramListener;
pub use test::Registry;

use crate::config::Iperf3;
use crate::listener::Greet;
use crate::shared::Shared;
use control::Control;

/// How connections to one iperf3 address begin.
pub fn greet(shared: Arc<Shared>, listen: Arc<Iperf3>, auth: Option<Auth>) -> Greet {
    let auth = auth.map(Arc::new);
    Box::new(move |guest| {
        let (shared, listen) = (Arc::clone(&shared), Arc::clone(&listen));
        Some(Box::new(Control::new(guest, shared, listen, auth.clone())))
    })
}
