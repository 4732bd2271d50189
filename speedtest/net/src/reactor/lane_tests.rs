// SPDX-License-Identifier: Apache-2.0
//! Calls between two turns of a handler that never runs out of work. The loop runs in the test's
//! own thread, so the order is the same each time.

use std::os::fd::RawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};

use super::*;
use crate::loop_meter::LoopReading;
use crate::reactor::{Address, Note, PeerInstant};
use crate::turn::Work;

/// Rounds of the handler that has too much to do.
const ROUNDS: usize = 50;

type Calls = Arc<Mutex<Vec<&'static str>>>;

/// Make a socket that always has input, or never.
fn socket(readable: bool) -> (UnixStream, UnixStream) {
    let (own, peer) = UnixStream::pair().unwrap();
    if readable {
        std::io::Write::write_all(&mut &peer, b"x").unwrap();
    }
    (own, peer)
}

/// Answers as many requests as its turn allows, without end; stops the loop after some rounds.
struct Greedy {
    socket: (UnixStream, UnixStream),
    calls: Calls,
    name: &'static str,
    rounds: usize,
    most: u64,
}

impl Greedy {
    fn new(calls: &Calls, name: &'static str, readable: bool) -> Box<Greedy> {
        let (socket, calls) = (socket(readable), Arc::clone(calls));
        Box::new(Greedy { socket, calls, name, rounds: 0, most: 0 })
    }

    fn work(&mut self, cx: &mut Cx<'_>) -> Next {
        self.calls.lock().unwrap().push(self.name);
        let done = std::iter::from_fn(|| cx.turn.take(Work::Requests).then_some(())).count();
        self.most = self.most.max(done as u64);
        assert!(self.most <= Work::Requests.most());
        self.rounds += 1;
        if self.rounds == ROUNDS {
            cx.lanes.stop();
        }
        Next::Stay
    }
}

impl Handler for Greedy {
    fn fd(&self) -> RawFd {
        self.socket.0.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        cx.wait_for(Interest::READ);
        self.work(cx)
    }

    fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
        self.work(cx)
    }

    fn note(&mut self, _cx: &mut Cx<'_>, _note: Note) -> Next {
        self.calls.lock().unwrap().push("note");
        Next::Stay
    }
}

/// Is always ready, sets a timer that is due at once, and writes to the first handler.
struct Other {
    socket: (UnixStream, UnixStream),
    calls: Calls,
}

impl Handler for Other {
    fn fd(&self) -> RawFd {
        self.socket.0.as_raw_fd()
    }

    fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
        cx.wait_for(Interest::READ);
        Next::Stay
    }

    fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
        self.calls.lock().unwrap().push("other");
        cx.wake_at(cx.now);
        let first = Address { lane: 0, token: 1 << 32 };
        cx.lanes.tell(first, ());
        Next::Stay
    }

    fn timer(&mut self, _cx: &mut Cx<'_>) -> Next {
        self.calls.lock().unwrap().push("timer");
        Next::Stay
    }
}

fn run(handlers: Vec<Box<dyn Handler>>) -> LoopReading {
    let lanes = Lanes::new(1).unwrap();
    let lane = Lane::new(0, lanes.clone()).unwrap();
    for handler in handlers {
        lanes.adopt(0, handler);
    }
    lane.run().unwrap();
    let mut meters = lanes.meters();
    meters.next().unwrap().read()
}

#[test]
fn sockets_timers_and_messages_come_between_two_turns() {
    let calls = Calls::default();
    let other = Box::new(Other { socket: socket(true), calls: Arc::clone(&calls) });
    run(vec![Greedy::new(&calls, "greedy", false), other]);
    let calls = calls.lock().unwrap();
    let rounds: Vec<_> = calls.split(|call| *call == "greedy").skip(2).collect();
    assert_eq!(rounds.len(), ROUNDS - 1, "it was called again, though nothing more arrived");
    for between in rounds.iter().take(ROUNDS - 2) {
        assert_eq!(*between, ["other", "timer", "note"]);
    }
}

#[test]
fn one_that_is_ready_and_unfinished_has_one_turn_a_round() {
    let calls = Calls::default();
    let meter = run(vec![Greedy::new(&calls, "one", true), Greedy::new(&calls, "two", true)]);
    let calls = calls.lock().unwrap();
    for pair in calls.chunks_exact(2) {
        assert_eq!((pair.contains(&"one"), pair.contains(&"two")), (true, true), "{calls:?}");
    }
    assert_eq!(meter.turns, calls.len() as u64);
}

#[test]
fn a_socket_is_not_reported_to_a_handler_that_stopped_waiting_for_it() {
    struct Deaf(Other);
    impl Handler for Deaf {
        fn fd(&self) -> RawFd {
            self.0.fd()
        }
        fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
            self.0.enter(cx)
        }
        fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
            self.0.calls.lock().unwrap().push("deaf");
            cx.wait_for(Interest::NOTHING);
            Next::Stay
        }
    }
    let calls = Calls::default();
    let deaf = Deaf(Other { socket: socket(true), calls: Arc::clone(&calls) });
    run(vec![Greedy::new(&calls, "greedy", false), Box::new(deaf)]);
    assert_eq!(calls.lock().unwrap().iter().filter(|call| **call == "deaf").count(), 1);
}

#[test]
fn input_that_came_before_a_late_timer_is_reported_first() {
    struct Late(Other);
    impl Handler for Late {
        fn fd(&self) -> RawFd {
            self.0.fd()
        }
        fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
            cx.wake_at(cx.now);
            std::thread::sleep(LONG_TURN * 2);
            self.0.enter(cx)
        }
        fn ready(&mut self, cx: &mut Cx<'_>, _ready: Ready) -> Next {
            self.0.calls.lock().unwrap().push("ready");
            cx.lanes.stop();
            Next::Stay
        }
        fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
            self.0.timer(cx)
        }
    }
    let calls = Calls::default();
    run(vec![Box::new(Late(Other { socket: socket(true), calls: Arc::clone(&calls) }))]);
    assert_eq!(calls.lock().unwrap()[..2], ["ready", "timer"]);
}

#[test]
fn a_peer_s_time_does_not_pass_in_a_turn_that_takes_too_long() {
    struct Slow {
        other: Other,
        deadline: PeerInstant,
    }
    impl Handler for Slow {
        fn fd(&self) -> RawFd {
            self.other.fd()
        }
        fn enter(&mut self, cx: &mut Cx<'_>) -> Next {
            self.deadline = cx.peer_now() + LONG_TURN;
            cx.wake_at(cx.when(self.deadline));
            std::thread::sleep(LONG_TURN * 2);
            Next::Stay
        }
        fn ready(&mut self, _cx: &mut Cx<'_>, _ready: Ready) -> Next {
            Next::Stay
        }
        fn timer(&mut self, cx: &mut Cx<'_>) -> Next {
            let over = cx.peer_now() >= self.deadline;
            self.other.calls.lock().unwrap().push(if over { "over" } else { "early" });
            if over {
                cx.lanes.stop();
            } else {
                cx.wake_at(cx.when(self.deadline));
            }
            Next::Stay
        }
    }
    let calls = Calls::default();
    let other = Other { socket: socket(false), calls: Arc::clone(&calls) };
    run(vec![Box::new(Slow { other, deadline: PeerInstant::outside() })]);
    let calls = calls.lock().unwrap();
    assert_eq!((calls[0], calls.last()), ("early", Some(&"over")));
}
