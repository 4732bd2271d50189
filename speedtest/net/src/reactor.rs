// SPDX-License-Identifier: Apache-2.0
//! One epoll loop a core.
//!
//! A [`Handler`] owns one socket and lives in one loop; only that loop's thread calls it. Loops talk
//! by posting: a [`Note`] to a handler at an [`Address`], or a whole handler, socket included, that
//! shall go on living in another loop.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::load::ThreadMeter;
use crate::sys::{self, Epoll, Readiness};

/// Where a handler lives. Stays unique when its slot is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Address {
    pub lane: usize,
    token: u64,
}

impl Address {
    /// An address made up by a test of something that only passes addresses on.
    pub fn for_tests(lane: usize, token: u64) -> Address {
        Address { lane, token }
    }
}

/// What handlers tell each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// To a test: it may begin after having waited in the queue.
    Admitted,
    /// To a test: one of its streams is in its loop.
    Joined,
    /// To a test: the kernel refused an option of one of its streams.
    Refused,
    /// To a stream: begin. The test began at this moment, however late its streams' loops are.
    Start(Instant),
    /// To a stream: count what is there and report.
    Stop,
    /// To a stream: report once this many bytes are in, or none come any more.
    StopAt(u64),
    /// To a test: a stream has reported.
    Reported,
    /// To anybody: close.
    Close,
    /// To a listener or a waiting client: the server takes no more tests.
    Drain,
    /// To a running test: the server stops now.
    Terminate,
}

/// What becomes of a handler after a call.
pub enum Next {
    Stay,
    Close,
    /// The socket goes on with another handler, in this loop.
    Become(Box<dyn Handler>),
    /// So it does with [`Handler::succeed`], which takes over everything that this one has.
    Succeed,
}

/// Owns one socket.
pub trait Handler: Send {
    fn fd(&self) -> RawFd;
    /// The handler has just come into this loop.
    fn enter(&mut self, cx: &mut Cx<'_>) -> Next;
    /// The socket is ready for what was asked for, or has failed.
    fn ready(&mut self, cx: &mut Cx<'_>, ready: Ready) -> Next;
    /// A timer that this handler set; it may be an old one.
    fn timer(&mut self, _cx: &mut Cx<'_>) -> Next {
        Next::Stay
    }
    fn note(&mut self, _cx: &mut Cx<'_>, _note: Note) -> Next {
        Next::Stay
    }
    /// Who goes on after [`Next::Succeed`]; none closes the socket.
    fn succeed(self: Box<Self>) -> Option<Box<dyn Handler>> {
        None
    }
}

/// Why a handler is called.
#[derive(Debug, Clone, Copy)]
pub struct Ready(u32);

impl Ready {
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

enum Post {
    Note(u64, Note),
    Adopt(Box<dyn Handler>),
    Stop,
}

struct Inbox {
    posts: Mutex<Vec<Post>>,
    wake: OwnedFd,
}

/// The way into the loops from anywhere.
#[derive(Clone)]
pub struct Lanes {
    inboxes: Arc<[Inbox]>,
}

impl Lanes {
    /// One inbox for each of `count` loops.
    pub fn new(count: usize) -> io::Result<Lanes> {
        let inboxes = (0..count)
            .map(|_| Ok(Inbox { posts: Mutex::new(Vec::new()), wake: sys::eventfd()? }))
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Lanes { inboxes: inboxes.into() })
    }

    pub fn count(&self) -> usize {
        self.inboxes.len()
    }

    pub fn tell(&self, to: Address, note: Note) {
        self.post(to.lane, Post::Note(to.token, note));
    }

    pub fn adopt(&self, lane: usize, handler: Box<dyn Handler>) {
        self.post(lane, Post::Adopt(handler));
    }

    /// Ends all loops; handlers are dropped, which closes their sockets.
    pub fn stop(&self) {
        for lane in 0..self.count() {
            self.post(lane, Post::Stop);
        }
    }

    fn post(&self, lane: usize, post: Post) {
        let Some(inbox) = self.inboxes.get(lane) else { return };
        locked(&inbox.posts).push(post);
        // A full eventfd counter already wakes the loop.
        sys::signal_eventfd(inbox.wake.as_raw_fd());
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Slot {
    generation: u32,
    entry: Option<Entry>,
}

struct Entry {
    handler: Box<dyn Handler>,
    interest: Interest,
}

/// What a handler can do during a call.
pub struct Cx<'a> {
    pub now: Instant,
    pub lanes: &'a Lanes,
    pub meter: &'a ThreadMeter,
    lane: usize,
    token: u64,
    epoll: &'a Epoll,
    interest: &'a mut Interest,
    timers: &'a mut BinaryHeap<Reverse<(Instant, u64)>>,
}

impl Cx<'_> {
    pub fn address(&self) -> Address {
        Address { lane: self.lane, token: self.token }
    }

    pub fn wait_for(&mut self, interest: Interest) {
        *self.interest = interest;
    }

    /// Takes a socket out of this loop, so that a handler elsewhere can have it. The handler that
    /// had it must close.
    pub fn give_away(&self, socket: &impl AsRawFd) {
        // It is registered here, so the kernel has no reason to refuse.
        let _ = self.epoll.remove(socket.as_raw_fd());
    }

    /// Calls [`Handler::timer`] at `at` or just after. A timer cannot be taken back.
    pub fn wake_at(&mut self, at: Instant) {
        self.timers.push(Reverse((at, self.token)));
    }
}

/// One loop; `run` is its thread's life.
pub struct Lane {
    index: usize,
    lanes: Lanes,
    epoll: Epoll,
    slots: Vec<Slot>,
    free: Vec<usize>,
    timers: BinaryHeap<Reverse<(Instant, u64)>>,
    meter: ThreadMeter,
    stopped: bool,
}

const WAKE: u64 = u64::MAX;
const INDEX_BITS: u32 = 32;

impl Lane {
    pub fn new(index: usize, lanes: Lanes) -> io::Result<Lane> {
        let epoll = Epoll::new()?;
        let inbox = lanes.inboxes.get(index).ok_or(io::ErrorKind::NotFound)?;
        epoll.add(inbox.wake.as_raw_fd(), libc::EPOLLIN as u32, WAKE)?;
        Ok(Lane {
            index,
            lanes,
            epoll,
            slots: Vec::new(),
            free: Vec::new(),
            timers: BinaryHeap::new(),
            meter: ThreadMeter::of_this_thread(),
            stopped: false,
        })
    }

    /// Serves until [`Lanes::stop`]; call in the loop's own thread.
    pub fn run(mut self) -> io::Result<()> {
        self.meter = ThreadMeter::of_this_thread();
        let mut ready: Vec<Readiness> = Vec::new();
        while !self.stopped {
            let now = Instant::now();
            let wait = self.timers.peek().map(|Reverse((at, _))| at.saturating_duration_since(now));
            self.epoll.wait(&mut ready, wait)?;
            let now = Instant::now();
            for event in &ready {
                if event.token == WAKE {
                    self.take_posts(now);
                } else {
                    let why = Ready(event.events);
                    self.call(event.token, now, |handler, cx| handler.ready(cx, why));
                }
            }
            self.run_timers();
        }
        Ok(())
    }

    fn take_posts(&mut self, now: Instant) {
        let lanes = self.lanes.clone();
        let Some(inbox) = lanes.inboxes.get(self.index) else { return };
        sys::clear_eventfd(inbox.wake.as_raw_fd());
        let posts = std::mem::take(&mut *locked(&inbox.posts));
        for post in posts {
            match post {
                Post::Note(token, note) => {
                    self.call(token, now, |handler, cx| handler.note(cx, note));
                }
                Post::Adopt(handler) => self.insert(handler, now),
                Post::Stop => self.stopped = true,
            }
        }
    }

    fn run_timers(&mut self) {
        let now = Instant::now();
        while let Some(Reverse((at, token))) = self.timers.peek().copied() {
            if at > now {
                return;
            }
            self.timers.pop();
            self.call(token, now, |handler, cx| handler.timer(cx));
        }
    }

    fn insert(&mut self, handler: Box<dyn Handler>, now: Instant) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, entry: None });
            self.slots.len() - 1
        });
        let slot = &mut self.slots[index];
        slot.generation = slot.generation.wrapping_add(1);
        let token = u64::from(slot.generation) << INDEX_BITS | index as u64;
        let fd = handler.fd();
        slot.entry = Some(Entry { handler, interest: Interest::NOTHING });
        if self.epoll.add(fd, Interest::NOTHING.0, token).is_err() {
            slot.entry = None;
            self.free.push(index);
            return;
        }
        self.call(token, now, |handler, cx| handler.enter(cx));
    }

    /// Calls the handler at `token`, if it still lives, and does what it decided.
    fn call(
        &mut self,
        token: u64,
        now: Instant,
        what: impl FnOnce(&mut dyn Handler, &mut Cx<'_>) -> Next,
    ) {
        let index = (token & u64::from(u32::MAX)) as usize;
        let Some(slot) = self.slots.get_mut(index) else { return };
        if u64::from(slot.generation) != token >> INDEX_BITS {
            return;
        }
        let Some(mut entry) = slot.entry.take() else { return };
        let mut interest = entry.interest;
        let mut cx = Cx {
            now,
            lanes: &self.lanes,
            meter: &self.meter,
            lane: self.index,
            token,
            epoll: &self.epoll,
            interest: &mut interest,
            timers: &mut self.timers,
        };
        let mut next = what(entry.handler.as_mut(), &mut cx);
        loop {
            entry.handler = match next {
                Next::Become(handler) => handler,
                Next::Succeed => match entry.handler.succeed() {
                    Some(handler) => handler,
                    None => return self.free.push(index),
                },
                Next::Close => return self.release(index, entry),
                Next::Stay => return self.keep(index, token, entry, interest),
            };
            next = entry.handler.enter(&mut cx);
        }
    }

    fn keep(&mut self, index: usize, token: u64, mut entry: Entry, interest: Interest) {
        if interest != entry.interest {
            if self.epoll.modify(entry.handler.fd(), interest.0, token).is_err() {
                self.release(index, entry);
                return;
            }
            entry.interest = interest;
        }
        self.slots[index].entry = Some(entry);
    }

    fn release(&mut self, index: usize, entry: Entry) {
        drop(entry);
        self.free.push(index);
    }
}
