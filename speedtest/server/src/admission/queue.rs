// SPDX-License-Identifier: Apache-2.0
//! Counts running tests and shares places in the queue fairly between clients.
//!
//! Each client's tests wait in order of arrival. A free slot goes to the client with the fewest
//! running tests, and among equals in turn. So a client with many places waits for the others once
//! a round; they do not wait for all its places. In a full queue the client with the most places
//! loses its last one to a client that has fewer.

use std::collections::{HashMap, HashSet, VecDeque};

use speedtest_net::reactor::Address;

use crate::clients::ClientKey;

/// Limits; 0 is no limit, except for the queue.
#[derive(Debug, Clone, Copy)]
pub struct Capacity {
    pub tests: usize,
    pub tests_per_client: usize,
    pub queue: usize,
    pub queue_per_client: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Admitted,
    Queued {
        /// Number of tests ahead, approximately.
        ahead: usize,
        /// Test that lost its place to this one.
        displaced: Option<Address>,
    },
    Refused,
}

#[derive(Debug)]
pub struct Queue {
    capacity: Capacity,
    running: usize,
    by_client: HashMap<ClientKey, usize>,
    /// Clients that wait, in the order of their turns.
    turns: VecDeque<ClientKey>,
    places: HashMap<ClientKey, VecDeque<Address>>,
    waiting: usize,
    /// Admitted from the queue, ticket not claimed yet.
    called: HashSet<Address>,
}

impl Queue {
    pub fn new(capacity: Capacity) -> Queue {
        Queue {
            capacity,
            running: 0,
            by_client: HashMap::new(),
            turns: VecDeque::new(),
            places: HashMap::new(),
            waiting: 0,
            called: HashSet::new(),
        }
    }

    fn fits(&self, client: ClientKey) -> bool {
        let Capacity { tests, tests_per_client, .. } = self.capacity;
        (tests == 0 || self.running < tests)
            && (tests_per_client == 0 || self.running_of(client) < tests_per_client)
    }

    fn enter(&mut self, client: ClientKey) {
        self.running += 1;
        *self.by_client.entry(client).or_default() += 1;
    }

    /// Begin a test at once or not at all.
    pub fn enter_if_free(&mut self, client: ClientKey) -> bool {
        let free = self.fits(client);
        if free {
            self.enter(client);
        }
        free
    }

    pub fn request(&mut self, client: ClientKey, who: Address) -> Answer {
        if self.fits(client) {
            self.enter(client);
            return Answer::Admitted;
        }
        let own = self.places_of(client);
        let most = self.capacity.queue_per_client;
        if most > 0 && own >= most {
            return Answer::Refused;
        }
        let mut displaced = None;
        if self.waiting >= self.capacity.queue {
            displaced = self.displace(own);
            if displaced.is_none() {
                return Answer::Refused;
            }
        }
        let others = self.places.iter().filter(|(other, _)| **other != client);
        let ahead = own + others.map(|(_, places)| places.len().min(own + 1)).sum::<usize>();
        if own == 0 {
            self.turns.push_back(client);
        }
        self.places.entry(client).or_default().push_back(who);
        self.waiting += 1;
        Answer::Queued { ahead, displaced }
    }

    /// Take the last place of the client with the most, unless a client with `own` places would
    /// then have as many.
    fn displace(&mut self, own: usize) -> Option<Address> {
        let (client, most) =
            self.turns.iter().map(|key| (*key, self.places_of(*key))).max_by_key(|(_, n)| *n)?;
        if own + 1 >= most {
            return None;
        }
        let last = self.places.get_mut(&client)?.pop_back()?;
        self.waiting -= 1;
        Some(last)
    }

    /// End a test; return those that may begin now.
    pub fn release(&mut self, client: ClientKey) -> Vec<Address> {
        self.running = self.running.saturating_sub(1);
        if let Some(count) = self.by_client.get_mut(&client) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_client.remove(&client);
            }
        }
        let mut admitted = Vec::new();
        while let Some(who) = self.admit_next() {
            admitted.push(who);
        }
        admitted
    }

    fn admit_next(&mut self) -> Option<Address> {
        let fitting = (0..self.turns.len()).filter(|index| self.fits(self.turns[*index]));
        let index = fitting.min_by_key(|index| self.running_of(self.turns[*index]))?;
        let client = self.turns.remove(index)?;
        let places = self.places.get_mut(&client)?;
        let who = places.pop_front()?;
        if places.is_empty() {
            self.places.remove(&client);
        } else {
            self.turns.push_back(client);
        }
        self.waiting -= 1;
        self.enter(client);
        self.called.insert(who);
        Some(who)
    }

    /// Claim the ticket of an admitted test.
    pub fn claim(&mut self, who: Address) -> bool {
        self.called.remove(&who)
    }

    pub fn is_admitted(&self, who: Address) -> bool {
        self.called.contains(&who)
    }

    /// Leave the queue. Return true if the test was admitted already: its right must be released.
    pub fn leave(&mut self, client: ClientKey, who: Address) -> bool {
        if let Some(places) = self.places.get_mut(&client) {
            let before = places.len();
            places.retain(|waiting| *waiting != who);
            self.waiting -= before - places.len();
            if places.is_empty() {
                self.places.remove(&client);
                self.turns.retain(|waiting| *waiting != client);
            }
        }
        self.called.remove(&who)
    }

    /// Remove and return all that wait, to be refused because the server stops.
    pub fn clear(&mut self) -> Vec<Address> {
        self.turns.clear();
        self.waiting = 0;
        self.places.drain().flat_map(|(_, places)| places).collect()
    }

    fn places_of(&self, client: ClientKey) -> usize {
        self.places.get(&client).map_or(0, VecDeque::len)
    }

    pub fn running(&self) -> usize {
        self.running
    }

    pub fn running_of(&self, client: ClientKey) -> usize {
        self.by_client.get(&client).copied().unwrap_or(0)
    }

    pub fn waiting(&self) -> usize {
        self.waiting
    }
}

#[cfg(test)]
mod tests;
