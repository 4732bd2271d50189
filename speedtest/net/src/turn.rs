// SPDX-License-Identifier: Apache-2.0
//! Budget of a handler before the other sockets of its loop are served.
//!
//! A *turn* is one call of a [`Handler`](crate::reactor::Handler). A peer can give a handler more
//! work than it should do at once: input that is parsed without effect, sockets that never run
//! empty. So each turn has a budget for each type of [`Work`]. A handler that asks for more is
//! called again after all others of its loop (see [`Turn::ran_out`]).
//!
//! To the handler a spent budget looks like a socket without more input or space: reads and writes
//! return [`ErrorKind::WouldBlock`]. Its loops end as they always do.
//!
//! The budgets allow at most about 1 ms on a slow host, where a core makes some 100,000 system
//! calls and encrypts 1 GB per second. Most turns spend at most one of them.

use std::io::{self, ErrorKind};

/// Type of work in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Requests that are answered: each takes a few system calls and tens of microseconds.
    Requests,
    /// Frames of HTTP/2 and WebSocket, read in user space: a few microseconds with headers in them.
    Frames,
    /// Datagrams, a system call each.
    Datagrams,
    /// Connections taken from a listening socket: system calls, memory and a message to another loop.
    Accepted,
    /// Notices of the kernel that zero-copy data has left, a system call each.
    Notices,
    /// Bytes that are copied to user space and looked at: heads, texts, results, handshakes.
    Parsed,
    /// Bytes that are dropped inside the kernel; the batch that makes bulk data cheap.
    Dropped,
    /// Bytes that the kernel copies: of the hot buffer, or for a library that reads.
    Copied,
    /// Calls that send: small blocks take one each.
    Sends,
    /// Bytes that TLS encrypts or decrypts.
    Ciphered,
    /// TLS records that arrive, which may be tiny.
    Records,
}

const KINDS: usize = Work::Records as usize + 1;

impl Work {
    /// Return the budget of one turn.
    pub const fn most(self) -> u64 {
        match self {
            Work::Requests => 16,
            Work::Frames | Work::Sends => 256,
            Work::Datagrams => 64,
            Work::Accepted => 32,
            Work::Notices => 128,
            Work::Parsed => 64 << 10,
            Work::Dropped => 4 << 20,
            Work::Copied => 2 << 20,
            Work::Ciphered => 1 << 20,
            Work::Records => 512,
        }
    }
}

const FULL: [u64; KINDS] = [
    Work::Requests.most(),
    Work::Frames.most(),
    Work::Datagrams.most(),
    Work::Accepted.most(),
    Work::Notices.most(),
    Work::Parsed.most(),
    Work::Dropped.most(),
    Work::Copied.most(),
    Work::Sends.most(),
    Work::Ciphered.most(),
    Work::Records.most(),
];

/// The budget of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    left: [u64; KINDS],
    ran_out: bool,
}

impl Default for Turn {
    fn default() -> Turn {
        Turn { left: FULL, ran_out: false }
    }
}

impl Turn {
    /// Return the remaining budget of one type.
    pub fn left(&self, work: Work) -> u64 {
        self.left[work as usize]
    }

    /// Take one request, frame, datagram or call. Return false if none is left: the handler must
    /// stop.
    #[must_use]
    pub fn take(&mut self, work: Work) -> bool {
        let one = self.may(work, 1) == 1;
        self.spend(work, u64::from(one));
        one
    }

    /// Return up to `most`, or what is left. It is not spent yet.
    pub fn may(&mut self, work: Work, most: u64) -> u64 {
        self.ran_out |= most > 0 && self.left(work) == 0;
        most.min(self.left(work))
    }

    /// Call [`Turn::may`] for a buffer; return [`ErrorKind::WouldBlock`] if nothing is left.
    pub fn room(&mut self, work: Work, most: usize) -> io::Result<usize> {
        match self.may(work, most as u64) {
            0 if most > 0 => Err(ErrorKind::WouldBlock.into()),
            // It is at most `most`.
            room => Ok(room as usize),
        }
    }

    /// Spend `count`. If it is known only afterwards, it may exceed what was left.
    pub fn spend(&mut self, work: Work, count: u64) {
        let left = &mut self.left[work as usize];
        *left = left.saturating_sub(count);
    }

    /// Return whether the handler wanted more than was left; it must be called again.
    pub fn ran_out(&self) -> bool {
        self.ran_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_gives_what_it_has_and_remembers_who_wanted_more() {
        let mut turn = Turn::default();
        let taken = (0..).take_while(|_| turn.take(Work::Requests)).count();
        assert_eq!(taken as u64, Work::Requests.most());
        assert!(turn.ran_out());
        assert_eq!(turn.left(Work::Frames), Work::Frames.most(), "kinds are apart");
    }

    #[test]
    fn a_turn_that_used_exactly_its_budget_did_not_run_out() {
        let mut turn = Turn::default();
        let all = Work::Copied.most() as usize;
        assert_eq!(turn.room(Work::Copied, all * 2).unwrap(), all);
        turn.spend(Work::Copied, all as u64);
        assert_eq!(turn.room(Work::Copied, 0).unwrap(), 0);
        assert!(!turn.ran_out());
        assert_eq!(turn.room(Work::Copied, 1).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(turn.ran_out());
    }
}
