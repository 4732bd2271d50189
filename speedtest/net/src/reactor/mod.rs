// SPDX-License-Identifier: Apache-2.0
//! Event loops, one epoll instance per core.
//!
//! A [`Handler`] owns one socket and belongs to one loop; only that loop's thread calls it. Loops post
//! messages: a [`Note`] to a handler at an [`Address`], or a whole handler with its socket, which then
//! belongs to another loop. Each call is a turn, with the budget [`Cx::turn`].

mod clock;
mod lane;
mod lanes;
mod slots;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Instant;

use self::clock::Clock;
pub use self::clock::PeerInstant;
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
    /// Make an invented address, for tests of code that only passes addresses on.
    pub fn for_tests(lane: usize, token: u64) -> Address {
        Address { lane, token }
    }
}

/// Fate of a handler after a call.
pub enum Next {
    /// Keep it; it is called on its next event, and again if its turn ran out.
    Stay,
    /// It has more to do now: call [`Handler::again`] after all others.
    Again,
    Close,
    /// Replace it by another handler of the socket, in this loop.
    Become(Box<dyn Handler>),
    /// Replace it by [`Handler::succeed`], which takes over all that this one has.
    Succeed,
}

/// Owns one socket.
pub trait Handler: Send {
    fn fd(&self) -> RawFd;
    /// Called when the handler has just come into this loop.
    fn enter(&mut self, cx: &mut Cx<'_>) -> Next;
    /// Called when the socket has one of the awaited events, or has failed.
    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next;
    /// Called after its turn ran out with work left. Another call may have come in between, so
    /// there may be nothing left to do.
    fn again(&mut self, cx: &mut Cx<'_>) -> Next {
        self.ready(cx, Ready::NOTHING)
    }
    /// Called for a timer that this handler set; it may be an outdated one.
    fn timer(&mut self, _cx: &mut Cx<'_>) -> Next {
        Next::Stay
    }
    fn note(&mut self, _cx: &mut Cx<'_>, _note: Note) -> Next {
        Next::Stay
    }
    /// Return the next handler after [`Next::Succeed`]; None closes the socket.
    fn succeed(self: Box<Self>) -> Option<Box<dyn Handler>> {
        None
    }
    /// Return the handler's name for the log.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

/// Reason for a call of a handler.
#[derive(Debug, Clone, Copy)]
pub struct Ready(u32);

impl Ready {
    /// No event: the handler is called again.
    pub const NOTHING: Ready = Ready(0);

    /// Restrict the events to those of `interest`; errors always remain.
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

    /// Return whether the error queue has entries or the socket has failed.
    pub fn error(self) -> bool {
        self.0 & libc::EPOLLERR as u32 != 0
    }

    pub fn hung_up(self) -> bool {
        self.0 & (libc::EPOLLHUP | libc::EPOLLRDHUP) as u32 != 0
    }
}

/// Events that a handler waits for. Hang-up and errors are always reported; [`Interest::NOTHING`]
/// gets errors and a full hang-up only.
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

/// Actions that a handler may take during a call.
pub struct Cx<'a> {
    /// Start of this turn. Bytes counted during the turn have a later time.
    pub now: Instant,
    /// Remaining budget of this turn.
    pub turn: Turn,
    pub lanes: &'a Lanes,
    pub meter: &'a ThreadMeter,
    pub loop_meter: &'a LoopMeter,
    clock: Clock,
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

    /// Remove a socket from this loop for a handler of another loop. The handler that had it must
    /// close.
    pub fn give_away(&self, socket: &impl AsRawFd) {
        // The socket is registered here, so the kernel has no reason to reject this.
        let _ = self.epoll.remove(socket.as_raw_fd());
    }

    /// Charge this handler's time to `loop_time` from this turn on.
    pub fn charge(&self, loop_time: &Arc<LoopTime>) {
        *self.loop_time.borrow_mut() = Some(Arc::clone(loop_time));
    }

    /// Return the time by which limits of peers are kept.
    pub fn peer_now(&self) -> PeerInstant {
        self.clock.peer_now()
    }

    /// Return when it will be `at`. A gap may postpone it: compare again then.
    pub fn when(&self, at: PeerInstant) -> Instant {
        self.clock.when(at)
    }

    /// Call [`Handler::timer`] at `at` or just after. A timer cannot be cancelled.
    pub fn wake_at(&mut self, at: Instant) {
        self.timers.push(Reverse((at, self.token)));
    }
}
