// SPDX-License-Identifier: Apache-2.0
//! Signals of the process, taken one at a time by a waiting thread.
#![expect(unsafe_code, reason = "rustix leaves the mask and waiting for signals to libc")]

use std::mem::zeroed;
use std::time::Duration;

/// The signals that a server acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Terminate,
    Reload,
}

fn signal_set() -> libc::sigset_t {
    // SAFETY: sigemptyset initialises the set, sigaddset changes an initialised one.
    unsafe {
        let mut set: libc::sigset_t = zeroed();
        libc::sigemptyset(&mut set);
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

/// Block SIGTERM, SIGINT and SIGHUP for [`wait_signal`]; call it before any thread is started.
pub fn block_signals() {
    // SAFETY: the set is initialised; the old mask is not asked for.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &signal_set(), std::ptr::null_mut());
    }
}

/// Wait for a blocked signal; return None after `most`.
pub fn wait_signal(most: Duration) -> Option<Signal> {
    let timeout = libc::timespec {
        tv_sec: libc::time_t::try_from(most.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: most.subsec_nanos().into(),
    };
    // SAFETY: set and timeout outlive the call; no siginfo is asked for.
    match unsafe { libc::sigtimedwait(&signal_set(), std::ptr::null_mut(), &timeout) } {
        libc::SIGHUP => Some(Signal::Reload),
        libc::SIGTERM | libc::SIGINT => Some(Signal::Terminate),
        _ => None,
    }
}
