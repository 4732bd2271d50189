// SPDX-License-Identifier: Apache-2.0
//! One connection of a LibreSpeed test: requests one after another, as its own clients send them;
//! the first one is a ping.

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use speedtest_net::bulk::send_hot;
use speedtest_net::reactor::{Cx, Handler, Interest, Next, Ready};
use speedtest_net::sys;
use speedtest_net::wire::{unless_blocked, Wire};
use speedtest_proto::reply::{Replies, MAX_REPLY_BYTES};

use super::{no_answer, Job, Moved, PATIENCE};

/// What LibreSpeed's worker uploads in one request, and downloads in one (ckSize, in MiB).
const UPLOAD_BYTES: u64 = 20 << 20;
const DOWNLOAD_MIB: u64 = 100;

enum Step {
    /// Sending the head of a request, and its body.
    Asking,
    /// Reading the head of the answer.
    Listening,
    /// Dropping the body of the answer, this many bytes.
    Dropping(u64),
}

pub struct Stream {
    wire: Wire,
    job: Job,
    step: Step,
    head: Vec<u8>,
    body: u64,
    replies: Replies,
    moved: u64,
    /// The server has answered the ping: the test runs.
    open: bool,
    started: Instant,
    /// End of the test; before it runs, time limit of the answer to the ping.
    until: Instant,
}

impl Stream {
    pub fn new(wire: Wire, job: Job) -> Stream {
        let now = Instant::now();
        let replies = Replies::default();
        let (head, body) = (Vec::new(), 0);
        Stream {
            wire,
            job,
            step: Step::Listening,
            head,
            body,
            replies,
            moved: 0,
            open: false,
            started: now,
            until: now,
        }
    }

    fn ask(&mut self) {
        let (method, path, body) = if !self.open {
            ("GET", "/empty?r=0".to_owned(), 0)
        } else if self.job.server_sends {
            ("GET", format!("/garbage?ckSize={DOWNLOAD_MIB}"), 0)
        } else {
            let left = self.job.bytes.map_or(u64::MAX, |all| all - self.moved);
            ("POST", "/empty?r=0".to_owned(), left.min(UPLOAD_BYTES))
        };
        let head = format!(
            "{method} {path}&id={} HTTP/1.1\r\nHost: {}\r\nContent-Length: {body}\r\n\r\n",
            self.job.id, self.job.target.authority
        );
        self.head = head.into_bytes();
        self.body = body;
        self.step = Step::Asking;
    }

    /// Work until the socket is blocked, or the turn or the test is over. Return true if the test
    /// is over.
    fn work(&mut self, cx: &mut Cx<'_>) -> io::Result<bool> {
        self.wire.flush()?;
        loop {
            let blocked = match self.step {
                Step::Asking => !self.send(cx)?,
                Step::Listening => !self.listen(cx)?,
                Step::Dropping(0) => {
                    self.next(cx);
                    false
                }
                Step::Dropping(left) => !self.drop_body(cx, left)?,
            };
            if !self.open && cx.now >= self.until {
                return Err(io::Error::other(no_answer(PATIENCE)));
            }
            let timed_out = self.open && self.job.bytes.is_none() && cx.now >= self.until;
            if timed_out || self.job.bytes.is_some_and(|all| self.is_complete(all)) {
                return Ok(true);
            }
            if blocked {
                let asks = matches!(self.step, Step::Asking);
                let wanted = if asks { Interest::WRITE } else { Interest::READ };
                cx.wait_for(self.wire.interest(wanted));
                return Ok(false);
            }
        }
    }

    /// Return whether the test is complete: an upload when it is answered, a download when enough
    /// has arrived.
    fn is_complete(&self, all: u64) -> bool {
        let done = self.job.server_sends || matches!(self.step, Step::Dropping(_));
        self.open && self.moved >= all && done
    }

    /// Send the request. Return false if the socket is full.
    fn send(&mut self, cx: &mut Cx<'_>) -> io::Result<bool> {
        while !self.head.is_empty() {
            let Some(count) = unless_blocked(self.wire.send(&self.head, &mut cx.turn))? else {
                return Ok(false);
            };
            self.head.drain(..count);
        }
        if self.body > 0 {
            let Some(count) = send_hot(&mut self.wire, &[], self.body, &mut cx.turn)? else {
                return Ok(false);
            };
            self.body -= count as u64;
            self.moved += count as u64;
        }
        if self.body == 0 && self.wire.flush()? {
            self.step = Step::Listening;
        }
        Ok(true)
    }

    /// Read the answer's head. Return false if none is complete yet.
    fn listen(&mut self, cx: &mut Cx<'_>) -> io::Result<bool> {
        let mut buffer = [0; MAX_REPLY_BYTES];
        let wants = self.replies.wants();
        match unless_blocked(self.wire.receive(&mut buffer[..wants], &mut cx.turn))? {
            None => return Ok(false),
            Some(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Some(count) => self.replies.receive(&buffer[..count]),
        }
        let Some(reply) = self.replies.next_reply().map_err(io::Error::other)? else {
            return Ok(true);
        };
        if reply.status != 200 {
            return Err(io::Error::other(format!("the server answered {}", reply.status)));
        }
        let early = self.replies.take_body(reply.body_bytes).len() as u64;
        if self.counts() {
            self.moved += early;
        }
        self.step = Step::Dropping(reply.body_bytes - early);
        Ok(true)
    }

    /// Return whether the server's bytes belong to the test.
    fn counts(&self) -> bool {
        self.open && self.job.server_sends
    }

    /// Begin the next request after a whole answer; the first answer starts the test.
    fn next(&mut self, cx: &mut Cx<'_>) {
        if !std::mem::replace(&mut self.open, true) {
            self.started = cx.now;
            self.until = cx.now + Duration::from_secs(self.job.seconds.into());
            cx.wake_at(self.until);
        }
        self.ask();
    }

    /// Drop the body. Return false if nothing has arrived yet.
    fn drop_body(&mut self, cx: &mut Cx<'_>, left: u64) -> io::Result<bool> {
        let Some(count) = unless_blocked(self.wire.discard(left, &mut cx.turn))? else {
            return Ok(false);
        };
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if self.counts() {
            self.moved += count;
        }
        self.step = Step::Dropping(left - count);
        Ok(true)
    }

    fn go_on(&mut self, cx: &mut Cx<'_>) -> Next {
        match self.work(cx) {
            Ok(false) => return Next::Stay,
            Ok(true) => {
                // Bytes that the peer has not acknowledged have not arrived yet.
                let waits = if self.job.server_sends { 0 } else { sys::unacknowledged(self.fd()) };
                let bytes = self.moved.saturating_sub(waits);
                let seconds = self.started.elapsed().as_secs_f64();
                self.job.tell(Ok(Moved { bytes, seconds }));
            }
            Err(error) => self.job.tell(Err(error.to_string())),
        }
        Next::Close
    }
}

impl Handler for Stream {
    fn fd(&self) -> RawFd {
        self.wire.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        self.until = cx.now + PATIENCE;
        cx.wake_at(self.until);
        self.ask();
        self.go_on(cx)
    }

    fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
        self.go_on(cx)
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        self.go_on(cx)
    }
}
