// SPDX-License-Identifier: Apache-2.0
//! Frame boundaries in an HTTP/2 client's bytes (RFC 9113, 3.4 and 4.1), and a limit of overhead
//! frames. A library interprets the frames; here they are only classified, so that they can be
//! counted before the library gets them.

use std::time::{Duration, Instant};

const PREFACE_BYTES: usize = 24;
const HEADER_BYTES: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PADDED: u8 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Remaining bytes of the connection preface.
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

/// Tracks one client's bytes.
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
    /// Return whether the next byte begins a frame.
    pub fn between(&self) -> bool {
        self.state == BETWEEN
    }

    /// Return whether the last byte passed is payload of a DATA frame, which is counted later.
    pub fn in_data(&self) -> bool {
        self.data
    }

    /// Return whether the last frame passed is neither a request nor data: SETTINGS, PING,
    /// RST_STREAM, CONTINUATION, PRIORITY, WINDOW_UPDATE, a DATA frame that is empty or may be all
    /// padding.
    pub fn was_overhead(&self) -> bool {
        self.between() && self.overhead
    }

    /// Pass bytes up to the end of the current frame; return how many.
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

    /// Pass one field of a frame, or as much of it as is here.
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
                // Three bytes of length, type, flags; the stream ID does not matter here.
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

/// Overhead frames that a connection may send: [`Allowance::AT_ONCE`], plus [`Allowance::A_SECOND`]
/// per second, plus one for each [`Allowance::BYTES_EACH`] of bodies that move, in either
/// direction. A client that opens two windows for each 16 KiB of a download spends half of what it
/// earns.
#[derive(Debug, Clone)]
pub struct Allowance {
    /// Remaining allowance in bytes; each frame takes [`Allowance::BYTES_EACH`].
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

    /// Add the allowance for the time since the last call.
    pub fn pass_time(&mut self, now: Instant) {
        let since = *self.since.get_or_insert(now);
        let frames = now.saturating_duration_since(since).as_nanos() / Self::EARNED_EACH.as_nanos();
        if frames > 0 {
            self.since = Some(now);
            let frames = u64::try_from(frames).unwrap_or(u64::MAX);
            self.earn(frames.saturating_mul(Self::BYTES_EACH));
        }
    }

    /// Add the allowance for bytes of bodies.
    pub fn earn(&mut self, bytes: u64) {
        self.left = self.left.saturating_add(bytes).min(Self::MOST);
    }

    /// Take one frame. Return false if none is left: the client floods.
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
        /// Find the end of each frame and tell data from the rest, however the bytes are split.
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
