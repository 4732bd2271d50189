// SPDX-License-Identifier: Apache-2.0
//! Client's side of one ndt7 subtest.

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use speedtest_net::bulk::Channel;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Ready};
use speedtest_net::sys;
use speedtest_net::wire::{unless_blocked, Wire};
use speedtest_proto::ndt7::{Subtest, PROTOCOL};
use speedtest_proto::reply::{Replies, MAX_REPLY_BYTES};
use speedtest_proto::websocket::endpoint::Notice;
use speedtest_proto::websocket::offer::accept_key;
use speedtest_proto::websocket::{close_code, Role};

use super::{no_answer, Job, Moved};

/// Time that a server may let a test wait until another one has ended.
const PATIENCE: Duration = Duration::from_secs(25);
/// Interval at which the threshold follows the rate, and small amounts are polled for.
const LOOK: Duration = Duration::from_millis(20);

pub struct Stream {
    channel: Channel,
    job: Job,
    key: String,
    replies: Replies,
    /// The server has agreed to the upgrade.
    open: bool,
    started: Instant,
    /// End of the test; before it runs, time limit of the answer to the upgrade.
    until: Instant,
    /// Time at which the threshold is adapted next.
    look: Instant,
    /// This side has ended the test.
    closing: bool,
    told: bool,
}

impl Stream {
    pub fn new(wire: Wire, job: Job) -> Stream {
        let mut nonce = [0; 16];
        // It only has to differ from run to run, so that no cache answers.
        let _ = sys::random(&mut nonce);
        let key = STANDARD.encode(nonce);
        let subtest = if job.server_sends { Subtest::Download } else { Subtest::Upload };
        let request = format!(
            "GET {}?client_name=wirespeed-speedtest&client_version={}&id={} HTTP/1.1\r\nHost: {}\r\n\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n",
            subtest.path(),
            env!("CARGO_PKG_VERSION"),
            job.id,
            job.target.authority,
        );
        let now = Instant::now();
        let seed = u32::from_be_bytes([nonce[0], nonce[1], nonce[2], nonce[3]]);
        let mut channel = Channel::new(wire, Role::Client, seed, request.into_bytes(), now);
        if !job.server_sends {
            channel.limit(job.bytes);
        }
        Stream {
            channel,
            job,
            key,
            replies: Replies::default(),
            open: false,
            started: now,
            until: now,
            look: now,
            closing: false,
            told: false,
        }
    }

    fn go_on(&mut self, cx: &mut Cx<'_>) -> Next {
        match self.work(cx) {
            Ok(()) if self.channel.is_over() => {
                self.finish();
                Next::Close
            }
            Ok(()) => Next::Stay,
            // A server may close once both sides have sent a Close.
            Err(_) if self.told => Next::Close,
            Err(error) => {
                self.job.tell(Err(error.to_string()));
                Next::Close
            }
        }
    }

    fn work(&mut self, cx: &mut Cx<'_>) -> io::Result<()> {
        if !self.open && !self.read_answer(cx)? {
            if cx.now >= self.until {
                return Err(io::Error::other(no_answer(PATIENCE)));
            }
            self.channel.push(0, &mut cx.turn)?;
            cx.wait_for(self.channel.interest(false));
            return Ok(());
        }
        for notice in self.channel.pull(u64::MAX, &mut cx.turn)? {
            match notice {
                // The receiver of an upload closes after the last byte: that is the end of the
                // test.
                Notice::Closed(_) => self.finish(),
                Notice::Broken(violation) => return Err(io::Error::other(violation)),
                Notice::Text(_) => {}
            }
        }
        let received = self.job.bytes.is_some_and(|all| self.channel.received_bytes() >= all);
        let sent = self.job.bytes.is_some_and(|all| self.channel.sent_bytes() >= all);
        let timed_out = self.job.bytes.is_none() && cx.now >= self.until;
        if !self.closing && (timed_out || received || sent) {
            self.closing = true;
            self.channel.endpoint.close(close_code::NORMAL);
            if self.job.server_sends {
                self.finish();
            }
        }
        let sending =
            !self.job.server_sends && !self.closing && !self.channel.endpoint.close_said();
        self.channel.push(if sending { u64::MAX } else { 0 }, &mut cx.turn)?;
        cx.wait_for(self.channel.interest(sending));
        Ok(())
    }

    /// Read the server's answer. Return false if it has not arrived yet.
    fn read_answer(&mut self, cx: &mut Cx<'_>) -> io::Result<bool> {
        let mut buffer = [0; MAX_REPLY_BYTES];
        let wants = self.replies.wants();
        match unless_blocked(self.channel.wire.receive(&mut buffer[..wants], &mut cx.turn))? {
            None => return Ok(false),
            Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Some(count) => self.replies.receive(&buffer[..count]),
        }
        let Some(reply) = self.replies.next_reply().map_err(io::Error::other)? else {
            return Ok(false);
        };
        if reply.status != 101 {
            let why = String::from_utf8_lossy(&self.replies.take_body(u64::MAX)).trim().to_owned();
            return Err(io::Error::other(format!("the server answered {}: {why}", reply.status)));
        }
        let agreed = reply.accept.as_deref() == Some(accept_key(&self.key).as_str());
        if !agreed || reply.protocol.as_deref() != Some(PROTOCOL) {
            return Err(io::Error::other("the server did not agree to speak ndt7"));
        }
        self.open = true;
        self.started = cx.now;
        self.until = cx.now + Duration::from_secs(self.job.seconds.into());
        self.look = cx.now + LOOK;
        cx.wake_at(self.look);
        let early = self.replies.take_body(u64::MAX);
        self.channel.came_early(early);
        Ok(true)
    }

    fn finish(&mut self) {
        if std::mem::replace(&mut self.told, true) {
            return;
        }
        let bytes = if self.job.server_sends {
            self.channel.received_bytes()
        } else {
            self.channel.sent_bytes()
        };
        if let Some(all) = self.job.bytes.filter(|all| bytes < *all) {
            return self.job.tell(Err(format!("the server ended after {bytes} of {all} bytes")));
        }
        self.job.tell(Ok(Moved { bytes, seconds: self.started.elapsed().as_secs_f64() }));
    }
}

impl Handler for Stream {
    fn fd(&self) -> RawFd {
        self.channel.wire.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        cx.wait_for(Interest::WRITE);
        self.until = cx.now + PATIENCE;
        cx.wake_at(self.until);
        self.go_on(cx)
    }

    fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
        self.go_on(cx)
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        // Other timers end here too; each must not start a series of its own.
        if self.open && cx.now >= self.look {
            if self.job.server_sends {
                // Without the threshold the loop only wakes more often.
                let _ = self.channel.adapt_threshold(cx.now);
            }
            self.look = cx.now + LOOK;
            cx.wake_at(self.look);
        }
        self.go_on(cx)
    }
}
