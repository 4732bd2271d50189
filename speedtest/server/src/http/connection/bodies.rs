// SPDX-License-Identifier: Apache-2.0
//! Moves the bodies of one connection: downloads from the hot buffer, uploads dropped in the kernel.

use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;

use speedtest_net::bulk::send_hot;
use speedtest_net::reactor::{Cx, Interest};
use speedtest_net::sys;
use speedtest_net::wire::unless_blocked;

use super::{Body, Connection, Flow, READ_BYTES};
use crate::counters::Counters;

impl Connection {
    /// Return the bytes that the client's limits allow at once.
    fn most_at_once(&self) -> u64 {
        self.flow.as_ref().map_or(u64::MAX, Flow::most_at_once)
    }

    pub(super) fn send_body(&mut self, cx: &mut Cx<'_>, mut left: u64) -> io::Result<bool> {
        let pause_at = left.saturating_sub(self.most_at_once());
        while left > pause_at {
            let Some(count) = send_hot(&mut self.wire, &[], left - pause_at, &mut cx.turn)? else {
                break;
            };
            left -= count as u64;
            self.moved(cx, count as u64)?;
        }
        if left == 0 {
            self.finish_flow(cx);
            return Ok(true);
        }
        self.body = Body::Sending(left);
        cx.wait_for(Interest::WRITE);
        Ok(false)
    }

    pub(super) fn drop_body(&mut self, cx: &mut Cx<'_>, left: u64) -> io::Result<bool> {
        let mut left = self.drop_some(cx, left)?;
        // The socket does not report what TLS has decrypted already.
        while left > 0 && self.wire.has_plain() && !self.is_held(cx.now) {
            left = self.drop_some(cx, left)?;
        }
        if left == 0 {
            self.finish_flow(cx);
            self.answer("200 OK", "text/plain", 0);
            return Ok(true);
        }
        self.body = Body::Dropping(left);
        if self.is_held(cx.now) {
            self.hold(cx);
        } else {
            cx.wait_for(self.wire.interest(Interest::READ));
        }
        Ok(false)
    }

    pub(super) fn drop_refused(&mut self, cx: &mut Cx<'_>, left: u64) -> io::Result<bool> {
        let before = left;
        let left = self.drop_some(cx, left)?;
        Counters::add(&self.shared.counters.bytes_refused, before - left);
        if left > 0 {
            self.body = Body::Refused(left);
            cx.wait_for(self.wire.interest(Interest::READ));
        }
        Ok(left == 0)
    }

    /// Drop received bytes of a body; return how many are still to come.
    fn drop_some(&mut self, cx: &mut Cx<'_>, mut left: u64) -> io::Result<u64> {
        let early = self.heads.take_body(left).len() as u64;
        left -= early;
        self.moved(cx, early)?;
        if left > 0 {
            let most = left.min(self.most_at_once());
            if let Some(count) = unless_blocked(self.wire.discard(most, &mut cx.turn))? {
                if count == 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                left -= count;
                self.dropped += count;
                self.moved(cx, count)?;
            }
        }
        self.wait_for_much(cx, left)?;
        Ok(left)
    }

    /// Set SO_RCVLOWAT to what arrives in 2 ms, or to the rest of the body: the next head may be
    /// short.
    fn wait_for_much(&mut self, cx: &mut Cx<'_>, left: u64) -> io::Result<()> {
        if self.wire.is_tls() {
            return Ok(());
        }
        let fd = self.wire.as_raw_fd();
        let buffer = || sys::buffer_limits(fd).unwrap_or_default().0;
        self.rate.adapt_sometimes(cx.now, self.dropped, buffer);
        let wanted = i32::try_from(left).unwrap_or(i32::MAX).min(self.rate.bytes()).max(1);
        if self.threshold != wanted {
            self.wire.set_threshold(wanted)?;
            self.threshold = wanted;
            self.arm(cx);
        }
        Ok(())
    }

    pub(super) fn keep_body(
        &mut self,
        cx: &mut Cx<'_>,
        mut left: u64,
        mut kept: Vec<u8>,
    ) -> io::Result<bool> {
        let early = self.heads.take_body(left);
        left -= early.len() as u64;
        kept.extend(early);
        let mut buffer = [0; READ_BYTES];
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(READ_BYTES);
            match unless_blocked(self.wire.receive(&mut buffer[..most], &mut cx.turn))? {
                Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Some(count) => {
                    left -= count as u64;
                    kept.extend_from_slice(&buffer[..count]);
                    self.progress(cx);
                }
                None => {
                    self.body = Body::Keeping(left, kept);
                    cx.wait_for(self.wire.interest(Interest::READ));
                    return Ok(false);
                }
            }
        }
        let id = self.shared.keeper.keep_page_result(self.client, &kept);
        let text = format!("id {id}");
        self.answer("200 OK", "text/plain", text.len() as u64);
        self.output.extend_from_slice(text.as_bytes());
        Ok(true)
    }
}
