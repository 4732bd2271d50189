// SPDX-License-Identifier: Apache-2.0
//! The system calls that std and socket2 do not offer, each behind a safe function.
//!
//! rustix makes them where it can; unsafe code is left only for the calls that it lacks.
//!
//! - [`epoll`]: readiness, and counters that wake a loop.
//! - [`transfer`]: bytes into and out of sockets, and bytes that are dropped inside the kernel.
//! - [`options`]: socket options, TCP_INFO, fill of a socket's buffers.
//! - [`process`]: users, limits, CPU time, random bytes.
//! - [`signals`]: the signals of the process.

mod epoll;
mod options;
mod process;
mod signals;
mod transfer;

use std::io;

pub use epoll::{clear_eventfd, eventfd, ready_now, signal_eventfd, Epoll, Readiness};
pub use options::{
    bbr_info, buffer_limits, received_memory, set_option, tcp_info, unacknowledged, unread,
    BbrInfo, TcpInfo,
};
pub use process::{
    forbid_new_privileges, host_name, process_times, raise_file_limit, random, set_user, thread_id,
    user_id,
};
pub use signals::{block_signals, wait_signal, Signal};
pub use transfer::{discard, reap_zero_copy, receive, receive_start, send, send_parts};

/// Convert the result of a libc call.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}
