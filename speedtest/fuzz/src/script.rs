// SPDX-License-Identifier: Apache-2.0
//! Script of an input for a state machine: decisions, sizes of the pieces, then the peer's bytes.

/// Most sizes that an input can give; they are reused from the first one on.
const MOST_PIECES: usize = 15;

/// Byte 0: the low 4 bits are the number of piece sizes that follow, the high 4 are decisions.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    pub decisions: u8,
    pub pieces: &'a [u8],
    pub bytes: &'a [u8],
}

impl<'a> Script<'a> {
    /// Read a script; None: the input is too short.
    pub fn of(data: &'a [u8]) -> Option<Script<'a>> {
        let (head, rest) = data.split_first()?;
        let count = usize::from(head & 0x0f).min(MOST_PIECES);
        let (pieces, bytes) = rest.split_at_checked(count)?;
        Some(Script { decisions: head >> 4, pieces, bytes })
    }

    /// Return the same bytes in pieces as large as the machine takes them.
    pub fn whole(self) -> Script<'a> {
        Script { pieces: &[], ..self }
    }

    /// Return whether this decision was taken. There are four.
    pub fn decided(&self, bit: u32) -> bool {
        self.decisions >> bit & 1 == 1
    }

    /// Feed the bytes piece by piece. `wants` is the size of the first piece; `feed` takes a piece
    /// and returns the size of the next. 0 ends it.
    pub fn feed(&self, wants: usize, mut feed: impl FnMut(&[u8]) -> usize) {
        let mut sizes = self.pieces.iter().map(|size| usize::from(*size) + 1).cycle();
        let (mut rest, mut wants) = (self.bytes, wants);
        while !rest.is_empty() && wants > 0 {
            let size = sizes.next().unwrap_or(usize::MAX).min(wants).min(rest.len());
            let (now, later) = rest.split_at(size);
            wants = feed(now);
            rest = later;
        }
    }
}
