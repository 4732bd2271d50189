// SPDX-License-Identifier: Apache-2.0
//! iperf3's protocol on top of the loops.
//!
//! Every connection begins in [`control::Control`] with a cookie. One that no running test knows opens
//! a test; any other becomes a stream of its test and moves to the loop that shall carry it.

mod control;
mod datagrams;
mod outcome;
mod policy;
mod running;
mod test;

use std::sync::Arc;

pub use datagrams::DatagramListener;
pub use test::Registry;

use crate::config::Iperf3;
use crate::listener::Greet;
use crate::shared::Shared;
use control::Control;

/// How connections to one iperf3 address begin.
pub fn greet(shared: Arc<Shared>, listen: Arc<Iperf3>) -> Greet {
    Box::new(move |guest| {
        Some(Box::new(Control::new(guest, Arc::clone(&shared), Arc::clone(&listen))))
    })
}
