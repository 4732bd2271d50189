// SPDX-License-Identifier: Apache-2.0
//! Messages to the loops, from any thread.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Address, Handler, Note};
use crate::loop_meter::LoopMeter;
use crate::sys;

pub(super) enum Post {
    Note(u64, Note),
    Adopt(Box<dyn Handler>),
    Stop,
}

/// Part of a loop that other threads see.
pub(super) struct Inbox {
    posts: Mutex<Vec<Post>>,
    /// Set when `posts` may have messages. Checking it between two turns costs no system call.
    posted: AtomicBool,
    wake: OwnedFd,
    pub meter: LoopMeter,
}

impl Inbox {
    fn new() -> io::Result<Inbox> {
        Ok(Inbox {
            posts: Mutex::default(),
            posted: AtomicBool::new(false),
            wake: sys::eventfd()?,
            meter: LoopMeter::default(),
        })
    }

    /// Readable when there are posts.
    pub fn wake(&self) -> &OwnedFd {
        &self.wake
    }

    pub fn has_posts(&self) -> bool {
        self.posted.load(Ordering::Acquire)
    }

    pub fn take(&self) -> Vec<Post> {
        self.posted.store(false, Ordering::Relaxed);
        sys::clear_eventfd(&self.wake);
        std::mem::take(&mut *self.locked())
    }

    fn put(&self, post: Post) {
        self.locked().push(post);
        self.posted.store(true, Ordering::Release);
        // A full eventfd counter already wakes the loop.
        sys::signal_eventfd(&self.wake);
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Post>> {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Handles to the loops, usable from any thread.
#[derive(Clone)]
pub struct Lanes {
    inboxes: Arc<[Inbox]>,
}

impl Lanes {
    /// Make one inbox for each of `count` loops.
    pub fn new(count: usize) -> io::Result<Lanes> {
        let inboxes = (0..count).map(|_| Inbox::new()).collect::<io::Result<Vec<_>>>()?;
        Ok(Lanes { inboxes: inboxes.into() })
    }

    pub fn count(&self) -> usize {
        self.inboxes.len()
    }

    /// Send this word to the handler at `to`, which must know its type.
    pub fn tell<W: Copy + Send + 'static>(&self, to: Address, word: W) {
        self.post(to.lane, Post::Note(to.token, Note::of(word)));
    }

    pub fn adopt(&self, lane: usize, handler: Box<dyn Handler>) {
        self.post(lane, Post::Adopt(handler));
    }

    /// Stop all loops; handlers are dropped, which closes their sockets.
    pub fn stop(&self) {
        for lane in 0..self.count() {
            self.post(lane, Post::Stop);
        }
    }

    /// Return the meter of each loop, in the order of the loops.
    pub fn meters(&self) -> impl Iterator<Item = &LoopMeter> {
        self.inboxes.iter().map(|inbox| &inbox.meter)
    }

    pub(super) fn inbox(&self, lane: usize) -> Option<&Inbox> {
        self.inboxes.get(lane)
    }

    fn post(&self, lane: usize, post: Post) {
        if let Some(inbox) = self.inbox(lane) {
            inbox.put(post);
        }
    }
}
