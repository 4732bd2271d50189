// SPDX-License-Identifier: Apache-2.0
//! One epoll loop a core.
//!
//! A [`Handler`] owns one socket and belongs to one loop; only that loop's thread calls it. Loops post
//! messages: a [`Note`] to a handler at an [`Address`], or a whole handler with its socket, which then
//! belongs to another loop. Each call is a turn, with the budget [`Cx::turn`].

mod lane;
mod lanes;
mod slots;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Instant;

pub use lane::Lane;
pub use lanes::Lanes;

use crate::load::ThreadMeter;
use crate::loop_meter::LoopMeter;
use crate::loop_time::LoopTime;
pub use crate::note::Note;
use crate::sys::Epoll;
use crate::turn::Turn;

/// The address of a handler. It stays unique when its slot is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Address {
    pub lane: usize,
    token: u64,
}

impl Address {
    /// An invented address, for tests of code that only passes addresses on.
    pub fn for_tests(lane: usize, token: u64) -> Address {
        Address { lane, token }
    }
}

/// What happens to a handler after a call.
pub enum Next {
    /// It is called when something happens, and again if its turn ran out.
    Stay,
    /// It has more to do now: [`Handler::again`] after everyone else.
    Again,
    Close,
    /// The socket goes on with another handler, in this loop.
    Become(Box<dyn Handler>),
    /// The same with [`Handler::succeed`], which takes over everything that this one has.
    Succeed,
}

/// Owns one socket.
pub trait Handler: Send {
    fn fd(&self) -> RawFd;
    /// The handler has just come into this loop.
    fn enter(&mut self, cx: &mut Cx<'_>) -> Next;
    /// The socket is ready for what the handler waits for, or has failed.
    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next;
    /// Its turn ran out before it had done everything. Something else may have called it meanwhile, so
    /// there may be nothing left to do.
    fn again(&mut self, cx: &mut Cx<'_>) -> Next {
        self.ready(cx, Ready::NOTHING)
    }
    /// A timer that this handler set; it may be an old one.
    fn timer(&mut self, _cx: &mut Cx<'_>) -> Next {
        Next::Stay
    }
    fn note(&mut self, _cx: &mut Cx<'_>, _note: Note) -> Next {
        Next::Stay
    }
    /// The next handler after [`Next::Succeed`]; none closes the socket.
    fn succeed(self: Box<Self>) -> Option<Box<dyn Handler>> {
        None
    }
    /// Names the handler in the log.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

/// Why a handler is called.
#[derive(Debug, Clone, Copy)]
pub struct Ready(u32);

impl Ready {
    /// The handler is called again.
    pub const NOTHING: Ready = Ready(0);

    /// What is left of it for a handler that waits for `interest` only; errors always are.
    fn within(self, interest: Interest) -> Ready {
        let always = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
        Ready(self.0 & (interest.0 | always))
    }

    fn is_nothing(self) -> bool {
        self.0 == 0
    }

    pub fn readable(self) -> bool {
        self.0 & (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLHUP) as u32 != 0
    }

    pub fn writable(self) -> bool {
        self.0 & libc::EPOLLOUT as u32 != 0
    }

    /// The error queue has something, or the socket has failed.
    pub fn error(self) -> bool {
        self.0 & libc::EPOLLERR as u32 != 0
    }

    pub fn hung_up(self) -> bool {
        self.0 & (libc::EPOLLHUP | libc::EPOLLRDHUP) as u32 != 0
    }
}

/// What a handler waits for. Hang-up and errors are always reported, except to [`Interest::NOTHING`],
/// which still learns of errors and of a full hang-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest(u32);

impl Interest {
    pub const NOTHING: Interest = Interest(0);
    pub const HANG_UP: Interest = Interest(libc::EPOLLRDHUP as u32);
    pub const READ: Interest = Interest((libc::EPOLLIN | libc::EPOLLRDHUP) as u32);
    pub const WRITE: Interest = Interest((libc::EPOLLOUT | libc::EPOLLRDHUP) as u32);
    pub const BOTH: Interest = Interest((libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP) as u32);

    pub fn and(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }
}

/// What a handler can do during a call.
pub struct Cx<'a> {
    /// The beginning of this turn. What is counted during the turn has a later time.
    pub now: Instant,
    /// What may still be done in this turn.
    pub turn: Turn,
    pub lanes: &'a Lanes,
    pub meter: &'a ThreadMeter,
    pub loop_meter: &'a LoopMeter,
    lane: usize,
    token: u64,
    epoll: &'a Epoll,
    interest: &'a mut Interest,
    loop_time: &'a RefCell<Option<Arc<LoopTime>>>,
    timers: &'a mut BinaryHeap<Reverse<(Instant, u64)>>,
}

impl Cx<'_> {
    pub fn address(&self) -> Address {
        Address { lane: self.lane, token: self.token }
    }

    pub fn wait_for(&mut self, interest: Interest) {
        *self.interest = interest;
    }

    /// Removes a socket from this loop, so that a handler of another loop can have it. The handler
    /// that had it must close.
    pub fn give_away(&self, socket: &impl AsRawFd) {
        // It is registered here, so the kernel has no reason to refuse.
        let _ = self.epoll.remove(socket.as_raw_fd());
    }

    /// From this turn on this handler's time is also that of `loop_time`, instead of another.
    pub fn charge(&self, loop_time: &Arc<LoopTime>) {
        *self.loop_time.borrow_mut() = Some(Arc::clone(loop_time));
    }

    /// Calls [`Handler::timer`] at `at` or just after. A timer cannot be taken back.
    pub fn wake_at(&mut self, at: Instant) {
        self.timers.push(Reverse((at, self.token)));
    }
}
