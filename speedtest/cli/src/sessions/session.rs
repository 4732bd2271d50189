// SPDX-License-Identifier: Apache-2.0
//! One connection: connect, ask for one octet, and close or stay open.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use speedtest_net::options::Options;
use speedtest_net::reactor::{Address, Cx, Handler, Interest, Lanes, Next, Note, Ready};
use speedtest_net::socket;
use speedtest_proto::reply::{Replies, MAX_REPLY_BYTES};

use super::counts::{cause, Counts};

/// Time limit of a connection until it is answered.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// News of one connection for the thread that starts them.
pub enum News {
    /// It was answered and stays open at this address.
    Open(Address),
    /// It failed, in this loop.
    Failed(usize),
    /// It ended after the time that counts, and no other takes its place.
    Last,
    /// It was answered again, or broke while it was held.
    Checked,
}

/// Tells an open connection to ask again.
#[derive(Clone, Copy)]
pub struct Again;

/// What all connections of a run share.
pub struct Run {
    pub address: SocketAddr,
    pub request: Vec<u8>,
    /// The server closes each connection after its answer, and the next takes its place.
    pub closes: bool,
    /// Time in which connections count.
    pub from: Instant,
    pub until: Instant,
    /// One for each loop.
    pub counts: Vec<Mutex<Counts>>,
    /// Connections that are open and answered.
    pub open: AtomicU64,
    /// Open connections that were answered again.
    pub again: AtomicU64,
    pub news: Sender<News>,
}

impl Run {
    /// Start a connection in a loop, or report its failure.
    pub fn start(self: &Arc<Run>, lanes: &Lanes, lane: usize) {
        match Session::begin(Arc::clone(self)) {
            Ok(session) => lanes.adopt(lane, Box::new(session)),
            Err(error) => self.fail(lane, cause(&error)),
        }
    }

    fn fail(&self, lane: usize, cause: &'static str) {
        self.count(lane, |counts| counts.failed(cause));
        self.tell(News::Failed(lane));
    }

    fn count(&self, lane: usize, what: impl FnOnce(&mut Counts)) {
        let now = Instant::now();
        if self.from <= now && now < self.until {
            what(&mut locked(&self.counts[lane]));
        }
    }

    fn tell(&self, news: News) {
        // The receiver is gone only when the whole run is over.
        let _ = self.news.send(news);
    }
}

pub fn locked(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Connecting,
    Listening,
    /// Answered; the server closes next.
    Answered,
    /// Answered and open.
    Held,
    /// Open and asked again.
    Checking,
}

pub struct Session {
    socket: TcpStream,
    run: Arc<Run>,
    step: Step,
    began: Instant,
    connect: Duration,
    replies: Replies,
    /// Octets of the answer's body that have not arrived; None before its head has.
    body: Option<u64>,
}

impl Session {
    fn begin(run: Arc<Run>) -> io::Result<Session> {
        let began = Instant::now();
        let socket = socket::connect(run.address, &Options::default())?;
        let (step, connect, replies) = (Step::Connecting, Duration::ZERO, Replies::default());
        Ok(Session { socket, run, step, began, connect, replies, body: None })
    }

    fn go_on(&mut self, cx: &mut Cx<'_>) -> Next {
        let gone = match self.step {
            Step::Connecting => self.connected(cx).map(|()| false),
            _ => self.listen(cx),
        };
        match gone {
            Ok(false) => Next::Stay,
            Ok(true) => self.ended(cx),
            Err(error) => self.fail(cx, cause(&error)),
        }
    }

    fn connected(&mut self, cx: &mut Cx<'_>) -> io::Result<()> {
        if let Some(error) = self.socket.take_error()? {
            return Err(error);
        }
        self.connect = self.began.elapsed();
        self.step = Step::Listening;
        self.ask(cx)
    }

    fn ask(&mut self, cx: &mut Cx<'_>) -> io::Result<()> {
        // A request fits into an empty socket buffer.
        self.socket.write_all(&self.run.request)?;
        cx.wait_for(Interest::READ);
        Ok(())
    }

    /// Read all that has arrived. Return true after the server's regular end.
    fn listen(&mut self, cx: &mut Cx<'_>) -> io::Result<bool> {
        let mut buffer = [0; MAX_REPLY_BYTES];
        loop {
            let wants = self.replies.wants();
            match self.socket.read(&mut buffer[..wants]) {
                Ok(0) if self.step == Step::Answered => return Ok(true),
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.replies.receive(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            self.answer(cx)?;
        }
    }

    /// Take the answer once all of it is here.
    fn answer(&mut self, cx: &mut Cx<'_>) -> io::Result<()> {
        let wrong = || io::Error::from(ErrorKind::InvalidData);
        if self.body.is_none() {
            let reply = self.replies.next_reply().map_err(|_| wrong())?;
            if reply.as_ref().is_some_and(|reply| reply.status != 200) {
                return Err(wrong());
            }
            self.body = reply.map(|reply| reply.body_bytes);
        }
        let Some(left) = self.body else { return Ok(()) };
        let left = left - self.replies.take_body(left).len() as u64;
        self.body = (left > 0).then_some(left);
        if left > 0 {
            return Ok(());
        }
        match self.step {
            Step::Listening if self.run.closes => self.step = Step::Answered,
            Step::Listening => {
                self.step = Step::Held;
                self.run.open.fetch_add(1, Ordering::Relaxed);
                self.run.count(cx.address().lane, |counts| counts.answered(self.connect));
                self.run.tell(News::Open(cx.address()));
            }
            Step::Checking => {
                self.step = Step::Held;
                self.run.again.fetch_add(1, Ordering::Relaxed);
                self.run.tell(News::Checked);
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// Count a connection that the server closed after its answer, and start the next.
    fn ended(&mut self, cx: &mut Cx<'_>) -> Next {
        let lane = cx.address().lane;
        self.run.count(lane, |counts| counts.answered(self.connect));
        if cx.now < self.run.until {
            self.run.start(cx.lanes, lane);
        } else {
            self.run.tell(News::Last);
        }
        Next::Close
    }

    fn fail(&mut self, cx: &mut Cx<'_>, cause: &'static str) -> Next {
        let lane = cx.address().lane;
        match self.step {
            Step::Held | Step::Checking => {
                self.run.open.fetch_sub(1, Ordering::Relaxed);
                self.run.count(lane, |counts| counts.failed(cause));
                self.run.tell(News::Checked);
            }
            _ => self.run.fail(lane, cause),
        }
        Next::Close
    }
}

impl Handler for Session {
    fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        cx.wait_for(Interest::WRITE);
        cx.wake_at(self.began + PATIENCE);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
        self.go_on(cx)
    }

    fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
        match self.step {
            Step::Held => Next::Stay,
            // The time limit of the first answer has been kept.
            Step::Checking if cx.now < self.began + PATIENCE => Next::Stay,
            _ => self.fail(cx, "timeout"),
        }
    }

    fn note(&mut self, cx: &mut Cx<'_>, note: Note) -> Next {
        if note.word::<Again>().is_none() || self.step != Step::Held {
            return Next::Stay;
        }
        self.step = Step::Checking;
        self.began = cx.now;
        cx.wake_at(self.began + PATIENCE);
        match self.ask(cx) {
            Ok(()) => Next::Stay,
            Err(error) => self.fail(cx, cause(&error)),
        }
    }
}
