// SPDX-License-Identifier: Apache-2.0
//! Where frames begin and end in what an HTTP/2 client sends (RFC 9113, 3.4 and 4.1). Their meaning is
//! left to a library; here they are only told apart, so that they can be counted before it sees them.

const PREFACE_BYTES: usize = 24;
const HEADER_BYTES: usize = 9;
const DATA: u8 = 0;

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
}

impl Default for Frames {
    fn default() -> Frames {
        Frames { state: State::Preface(PREFACE_BYTES), data: false }
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
                // Three bytes of length, then the type; flags and stream do not matter here.
                match *have {
                    0..3 => *length = *length << 8 | usize::from(bytes[0]),
                    3 => self.data = bytes[0] == DATA,
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
