// SPDX-License-Identifier: Apache-2.0
//! Sockets and event loops for speed tests; the only crate with unsafe code, all of it in [`sys`].
//!
//! # Layout
//! - [`reactor`]: one epoll loop a core; a [`reactor::Handler`] owns one socket; `note` is a message to one.
//! - [`turn`]: what a handler may do in one call; [`loop_meter`]: how long calls and waits for them are;
//!   [`loop_time`]: for whom the calls were.
//! - [`bulk`]: the two handlers that move test data: [`bulk::Sink`] and [`bulk::Source`].
//! - [`socket`]: listening and connecting; [`options`] what a test sets on a data socket.
//! - [`wire`]: a connection that is clear or TLS; [`tls`] the latter;
//!   [`duplex`]: one for a library that wants an asynchronous stream.
//! - [`load`]: CPU time of this process and of a loop, and its waiting for a core.
//! - [`look`]: one sample of TCP_INFO.
//! - [`rights`]: which rights of root are left.
//! - [`sys`]: the system calls that std and socket2 do not offer.

pub mod bulk;
pub mod duplex;
pub mod load;
pub mod look;
pub mod loop_meter;
pub mod loop_time;
mod note;
pub mod options;
pub mod reactor;
pub mod rights;
pub mod socket;
pub mod sys;
pub mod tls;
pub mod turn;
pub mod wire;
