// SPDX-License-Identifier: Apache-2.0
//! Where frames begin and end in what an HTTP/2 client sends (RFC 9113, 3.4 and 4.1), and how many of
//! them it may send that move nothing. Their meaning is left to a library; here they are only told
//! apart, so that they can be counted before it sees them.

use std::time::{Duration, Instant};

const PREFACE_BYTES: usize = 24;
const HEADER_BYTES: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PADDED: u8 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Bytes of the connection preface still to come.
    Preface(usize),
    Header {
        have: usize,
        length: usize,
    },
    Payload {
        left: usize,
    },
}

const BETWEEN: State = State::Header { have: 0, length: 0 };

/// Follows one client's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frames {
    state: State,
    data: bool,
    overhead: bool,
}

impl Default for Frames {
    fn default() -> Frames {
        Frames { state: State::Preface(PREFACE_BYTES), data: false, overhead: false }
    }
}

impl Frames {
    /// Does the next byte begin a frame?
    pub fn between(&self) -> bool {
        self.state == BETWEEN
    }

    /// The last byte that passed is the payload of a DATA frame, which is only counted later.
    pub fn in_data(&self) -> bool {
        self.data
    }

    /// The last frame that passed is neither a request nor data: SETTINGS, PING, RST_STREAM,
    /// CONTINUATION, PRIORITY, WINDOW_UPDATE, a DATA frame that is empty or may be all padding.
    pub fn was_overhead(&self) -> bool {
        self.between() && self.overhead
    }

    /// Lets bytes pass up to the end of the current frame, and returns how many.
    pub fn pass(&mut self, bytes: &[u8]) -> usize {
        let mut used = 0;
        while used < bytes.len() {
            used += self.step(&bytes[used..]);
            if self.between() {
                break;
            }
        }
        used
    }

    /// One part of a frame, or as much of it as is here.
    fn step(&mut self, bytes: &[u8]) -> usize {
        match &mut self.state {
            State::Preface(left) => {
                let count = bytes.len().min(*left);
                *left -= count;
                if *left == 0 {
                    self.state = BETWEEN;
                }
                count
            }
            State::Header { have, length } => {
                // Three bytes of length, type, flags; the stream does not matter here.
                match *have {
                    0..3 => *length = *length << 8 | usize::from(bytes[0]),
                    3 => {
                        self.data = bytes[0] == DATA;
                        self.overhead = bytes[0] > HEADERS;
                    }
                    4 => self.overhead |= self.data && (*length == 0 || bytes[0] & PADDED != 0),
                    _ => {}
                }
                *have += 1;
                if *have == HEADER_BYTES {
                    self.state = match *length {
                        0 => BETWEEN,
                        left => State::Payload { left },
                    };
                }
                1
            }
            State::Payload { left } => {
                let count = bytes.len().min(*left);
                *left -= count;
                if *left == 0 {
                    self.state = BETWEEN;
                }
                count
            }
        }
    }
}

/// How many frames of overhead a connection may send: [`Allowance::AT_ONCE`], and beyond them
/// [`Allowance::A_SECOND`] and one for each [`Allowance::BYTES_EACH`] of bodies that move, in either
/// direction. A client that opens two windows for each 16 KiB of a download spends half of what it
/// earns.
#[derive(Debug, Clone)]
pub struct Allowance {
    /// In bytes, of which each frame takes [`Allowance::BYTES_EACH`].
    left: u64,
    since: Option<Instant>,
}

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance { left: Allowance::MOST, since: None }
    }
}

impl Allowance {
    pub const AT_ONCE: u64 = 10_000;
    pub const A_SECOND: u64 = 1_000;
    pub const BYTES_EACH: u64 = 4096;
    const MOST: u64 = Self::AT_ONCE * Self::BYTES_EACH;
    const EARNED_EACH: Duration = Duration::from_nanos(1_000_000_000 / Self::A_SECOND);

    /// Adds what the time since the last call has earned.
    pub fn pass_time(&mut self, now: Instant) {
        let since = *self.since.get_or_insert(now);
        let frames = now.saturating_duration_since(since).as_nanos() / Self::EARNED_EACH.as_nanos();
        if frames > 0 {
            self.since = Some(now);
            let frames = u64::try_from(frames).unwrap_or(u64::MAX);
            self.earn(frames.saturating_mul(Self::BYTES_EACH));
        }
    }

    /// Adds what bytes of bodies have earned.
    pub fn earn(&mut self, bytes: u64) {
        self.left = self.left.saturating_add(bytes).min(Self::MOST);
    }

    /// Takes one frame. False: none is left, the client floods.
    #[must_use]
    pub fn take(&mut self) -> bool {
        let left = self.left.checked_sub(Self::BYTES_EACH);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn taken(allowance: &mut Allowance) -> u64 {
        (0..).take_while(|_| allowance.take()).count() as u64
    }

    #[test]
    fn allowance_spent_grows_by_time_and_bytes_up_to_its_most() {
        let (mut allowance, now) = (Allowance::default(), Instant::now());
        allowance.pass_time(now);
        assert_eq!(taken(&mut allowance), Allowance::AT_ONCE);
        allowance.pass_time(now + Duration::from_micros(999));
        assert_eq!(taken(&mut allowance), 0);
        allowance.pass_time(now + Duration::from_millis(500));
        assert_eq!(taken(&mut allowance), Allowance::A_SECOND / 2);
        allowance.earn(7 * Allowance::BYTES_EACH + 1);
        assert_eq!(taken(&mut allowance), 7);
        allowance.pass_time(now + Duration::from_secs(3600));
        allowance.earn(u64::MAX);
        assert_eq!(taken(&mut allowance), Allowance::AT_ONCE);
    }

    #[test]
    fn frames_kind_and_flags_tell_overhead_from_requests_and_data() {
        let mut frames = Frames::default();
        frames.pass(&[0; PREFACE_BYTES]);
        assert!(!frames.was_overhead(), "the preface is no frame");
        for (kind, flags, size, overhead) in [
            (DATA, 0, 1, false),
            (DATA, 1, 0, true),
            (DATA, PADDED, 200, true),
            (HEADERS, PADDED, 20, false),
            (2, 0, 5, true),
            (3, 0, 4, true),
            (4, 0, 0, true),
            (4, 1, 0, true),
            (6, 0, 8, true),
            (8, 0, 4, true),
            (9, 0, 0, true),
            (0xbd, 0, 0, true),
        ] {
            let mut bytes = frame(kind, size);
            bytes[4] = flags;
            assert_eq!(frames.pass(&bytes), bytes.len());
            assert_eq!(frames.was_overhead(), overhead, "{kind} {flags} {size}");
        }
    }

    fn frame(kind: u8, payload: usize) -> Vec<u8> {
        let mut bytes = (payload as u32).to_be_bytes()[1..].to_vec();
        bytes.extend([kind, 0, 0, 0, 0, 1]);
        bytes.resize(HEADER_BYTES + payload, 0xff);
        bytes
    }

    proptest! {
        /// However the bytes are cut, each frame ends where it ends, and data is told from the rest.
        #[test]
        fn frames_end_where_they_end(
            sent in prop::collection::vec((0u8..10, 0usize..300), 0..20),
            cuts in prop::collection::vec(1usize..50, 1..50),
        ) {
            let mut frames = Frames::default();
            prop_assert_eq!(frames.pass(&[0; 100]), PREFACE_BYTES);
            let all: Vec<u8> = sent.iter().flat_map(|(kind, size)| frame(*kind, *size)).collect();
            let (mut at, mut ends, mut cuts) = (0, Vec::new(), cuts.into_iter().cycle());
            while at < all.len() {
                let end = all.len().min(at + cuts.next().unwrap_or(1));
                at += frames.pass(&all[at..end]);
                if frames.between() {
                    ends.push((at, frames.in_data()));
                }
            }
            let mut expected = Vec::new();
            let mut end = 0;
            for (kind, size) in sent {
                end += HEADER_BYTES + size;
                expected.push((end, kind == DATA));
            }
            prop_assert_eq!(ends, expected);
        }
    }
}
