// SPDX-License-Identifier: Apache-2.0
//! Handlers of one loop, found by token.

use std::sync::Arc;

use super::{Handler, Interest};
use crate::loop_time::LoopTime;

const INDEX_BITS: u32 = 32;

struct Slot {
    generation: u32,
    entry: Option<Entry>,
}

/// Handler and its loop's state of it.
pub(super) struct Entry {
    pub handler: Box<dyn Handler>,
    pub interest: Interest,
    /// Round in which its socket was last ready, or it was last called again.
    pub called: u64,
    /// Round in which it last asked to be called again.
    pub asked: u64,
    /// Loop time that its turns are charged to.
    pub loop_time: Option<Arc<LoopTime>>,
}

/// Handlers by token. A token stays unique when its slot is used again.
#[derive(Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Vec<usize>,
}

impl Slots {
    pub fn insert(&mut self, handler: Box<dyn Handler>) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, entry: None });
            self.slots.len() - 1
        });
        let slot = &mut self.slots[index];
        slot.generation = slot.generation.wrapping_add(1);
        slot.entry = Some(Entry {
            handler,
            interest: Interest::NOTHING,
            called: 0,
            asked: 0,
            loop_time: None,
        });
        u64::from(slot.generation) << INDEX_BITS | index as u64
    }

    fn slot(&mut self, token: u64) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(index(token))?;
        (u64::from(slot.generation) == token >> INDEX_BITS).then_some(slot)
    }

    pub fn get(&mut self, token: u64) -> Option<&mut Entry> {
        self.slot(token)?.entry.as_mut()
    }

    /// Take a handler out while it is called; [`Slots::put`] or [`Slots::free`] follows.
    pub fn take(&mut self, token: u64) -> Option<Entry> {
        self.slot(token)?.entry.take()
    }

    pub fn put(&mut self, token: u64, entry: Entry) {
        self.slots[index(token)].entry = Some(entry);
    }

    /// Free the slot of a handler that is gone.
    pub fn free(&mut self, token: u64) {
        self.slots[index(token)].entry = None;
        self.free.push(index(token));
    }
}

fn index(token: u64) -> usize {
    (token & u64::from(u32::MAX)) as usize
}
