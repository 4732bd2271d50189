// SPDX-License-Identifier: Apache-2.0
//! Sockets and event loops for speed tests; the only crate with unsafe code, all of it in [`sys`].
//!
//! # Layout
//! - [`reactor`]: one epoll loop a core; a [`reactor::Handler`] owns one socket; `note` is a message to one.
//! - [`turn`]: the budget of one call to a handler; [`loop_meter`]: duration of calls and of waits for
//!   them; [`loop_time`]: time of calls by test.
//! - [`bulk`]: the two handlers that move test data: [`bulk::Sink`] and [`bulk::Source`].
//! - [`socket`]: listening and connecting; [`options`]: options of a test's data socket.
//! - [`wire`]: a connection in clear text or TLS; [`tls`]: the latter; [`duplex`]: a connection for a
//!   library that wants an asynchronous stream.
//! - [`load`]: CPU time of this process and of a loop, and the loop's wait for a core.
//! - [`look`]: one sample of TCP_INFO.
//! - [`rights`]: root privileges that the process still holds.
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
