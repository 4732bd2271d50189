// SPDX-License-Identifier: Apache-2.0
//! tokio socket whose bytes are dropped inside the kernel, with our server's SO_RCVLOWAT.

use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use speedtest_net::bulk::Threshold;
use speedtest_net::sys;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::{interval, Interval, MissedTickBehavior};

/// Most bytes that one call drops, as in our server.
pub const MOST_AT_ONCE: u64 = 4 << 20;
/// Interval to poll for data below the threshold, as in our server.
const LOOK: Duration = Duration::from_millis(100);

pub struct Drain {
    pub socket: TcpStream,
    threshold: Threshold,
    /// Value set in the kernel.
    set: i32,
    dropped: u64,
    look: Interval,
}

impl Drain {
    pub fn new(socket: TcpStream) -> Drain {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Drain { socket, threshold: Threshold::new(Instant::now()), set: 1, dropped: 0, look }
    }

    /// Drop received bytes, at most `most` of the `left` bytes to come, without waiting; 0 is the
    /// end.
    ///
    /// A short count means that the queue is empty. tokio must learn this as from its own reads;
    /// otherwise a second call would have to find out each time.
    pub fn try_drop(&mut self, left: u64, most: u64) -> io::Result<u64> {
        let wanted = left.min(most);
        let socket = &self.socket;
        let mut short = None;
        let done = socket.try_io(Interest::READABLE, || {
            let count = sys::discard(socket, usize::try_from(wanted).unwrap_or(usize::MAX))? as u64;
            if count > 0 && count < wanted {
                short = Some(count);
                return Err(ErrorKind::WouldBlock.into());
            }
            Ok(count)
        });
        let count = short.map_or(done, Ok)?;
        self.dropped += count;
        self.wait_for_much(left - count)?;
        Ok(count)
    }

    /// Wait until some of the `left` bytes to come can be dropped, and drop them; 0 is the end.
    pub async fn drop_some(&mut self, left: u64) -> io::Result<u64> {
        loop {
            match self.try_drop(left, MOST_AT_ONCE) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
            tokio::select! {
                ready = self.socket.readable() => ready?,
                _ = self.look.tick() => {
                    // Bytes below the threshold make no socket readable, so tokio is not asked.
                    let wanted = usize::try_from(left.min(MOST_AT_ONCE)).unwrap_or(usize::MAX);
                    match sys::discard(&self.socket, wanted) {
                        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                        other => return other.map(|count| count as u64),
                    }
                }
            }
        }
    }

    /// Read up to the buffer's size; 0 is the end.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.socket.try_read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
            self.socket.readable().await?;
        }
    }

    /// Set SO_RCVLOWAT to what arrives in 2 ms, or to all of `left`.
    fn wait_for_much(&mut self, left: u64) -> io::Result<()> {
        let fd = self.socket.as_raw_fd();
        let buffer = || sys::buffer_limits(fd).unwrap_or_default().0;
        self.threshold.adapt_sometimes(Instant::now(), self.dropped, buffer);
        let wanted = i32::try_from(left).unwrap_or(i32::MAX).min(self.threshold.bytes()).max(1);
        if wanted != self.set {
            sys::set_option(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, wanted)?;
            self.set = wanted;
        }
        Ok(())
    }
}
