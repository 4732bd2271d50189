// SPDX-License-Identifier: Apache-2.0
//! Readiness of many descriptors, and counters that wake a loop.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{poll, EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::io::Errno;

/// One epoll instance.
pub struct Epoll(OwnedFd);

/// One readiness report; `events` has the EPOLL* bits.
#[derive(Debug, Clone, Copy)]
pub struct Readiness {
    pub events: u32,
    pub token: u64,
}

/// Borrow the descriptor of a handler, known only by its number. It is an error once the handler
/// has given it away.
#[expect(unsafe_code, reason = "a handler is a trait object that tells a number")]
fn borrowed<'a>(fd: RawFd) -> io::Result<BorrowedFd<'a>> {
    if fd < 0 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: the handler owns the descriptor and keeps it open beyond the call.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) })
}

impl Epoll {
    pub fn new() -> io::Result<Epoll> {
        Ok(Epoll(epoll::create(CreateFlags::CLOEXEC)?))
    }

    pub fn add(&self, fd: RawFd, events: u32, token: u64) -> io::Result<()> {
        let flags = EventFlags::from_bits_retain(events);
        Ok(epoll::add(&self.0, borrowed(fd)?, EventData::new_u64(token), flags)?)
    }

    pub fn modify(&self, fd: RawFd, events: u32, token: u64) -> io::Result<()> {
        let flags = EventFlags::from_bits_retain(events);
        Ok(epoll::modify(&self.0, borrowed(fd)?, EventData::new_u64(token), flags)?)
    }

    pub fn remove(&self, fd: RawFd) -> io::Result<()> {
        Ok(epoll::delete(&self.0, borrowed(fd)?)?)
    }

    /// Wait until something is ready or `timeout` has passed; None waits without limit.
    pub fn wait(&self, ready: &mut Vec<Readiness>, timeout: Option<Duration>) -> io::Result<()> {
        const MOST: usize = 256;
        ready.clear();
        let mut events = [MaybeUninit::uninit(); MOST];
        // epoll's clock counts milliseconds; round up, so that nothing is early.
        let timeout = timeout.map(|wait| {
            let wait_ms = i32::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
            Timespec {
                tv_sec: i64::from(wait_ms / 1000),
                tv_nsec: i64::from(wait_ms % 1000) * 1_000_000,
            }
        });
        let happened = match epoll::wait(&self.0, &mut events, timeout.as_ref()) {
            Err(Errno::INTR) => return Ok(()),
            other => other?.0,
        };
        ready.extend(happened.iter().map(|event| {
            // Copy out first: the kernel's struct is packed.
            let (flags, data) = (event.flags, event.data);
            Readiness { events: flags.bits(), token: data.u64() }
        }));
        Ok(())
    }
}

/// Return which of these events a handler's descriptor has now, as EPOLL* bits: poll's are the same.
/// Errors and a full hang-up are always among them.
pub fn ready_now(fd: RawFd, events: u32) -> io::Result<u32> {
    let wanted = PollFlags::from_bits_truncate(events as u16);
    let mut one = [PollFd::from_borrowed_fd(borrowed(fd)?, wanted)];
    poll(&mut one, Some(&Timespec::default()))?;
    Ok(u32::from(one[0].revents().bits()))
}

/// Open an eventfd that wakes a loop.
pub fn eventfd() -> io::Result<OwnedFd> {
    Ok(rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
}

/// Wake the loop behind an eventfd. A full counter already does.
pub fn signal_eventfd(fd: impl AsFd) {
    let _ = rustix::io::write(fd, &1_u64.to_ne_bytes());
}

/// Reset an eventfd's counter to 0.
pub fn clear_eventfd(fd: impl AsFd) {
    let _ = rustix::io::read(fd, &mut [0; size_of::<u64>()]);
}
