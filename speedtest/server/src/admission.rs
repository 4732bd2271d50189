// SPDX-License-Identifier: Apache-2.0
//! Who may test now, who waits, who is refused? Tests that share a full server would measure each other.

use std::collections::{HashMap, VecDeque};

use speedtest_net::reactor::Address;

use crate::clients::ClientKey;

/// 0 tests is no limit.
#[derive(Debug, Clone, Copy)]
pub struct Capacity {
    pub tests: usize,
    pub tests_per_client: usize,
    pub queue: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Admitted,
    /// Waits behind this many others.
    Queued(usize),
    Refused,
}

/// Counts running tests and keeps the queue in order of arrival.
#[derive(Debug)]
pub struct Admission {
    capacity: Capacity,
    running: usize,
    by_client: HashMap<ClientKey, usize>,
    queue: VecDeque<(ClientKey, Address)>,
}

impl Admission {
    pub fn new(capacity: Capacity) -> Admission {
        Admission { capacity, running: 0, by_client: HashMap::new(), queue: VecDeque::new() }
    }

    fn fits(&self, client: ClientKey) -> bool {
        let of_client = self.by_client.get(&client).copied().unwrap_or(0);
        (self.capacity.tests == 0 || self.running < self.capacity.tests)
            && (self.capacity.tests_per_client == 0 || of_client < self.capacity.tests_per_client)
    }

    fn enter(&mut self, client: ClientKey) {
        self.running += 1;
        *self.by_client.entry(client).or_default() += 1;
    }

    /// Begins a test at once or not at all.
    pub fn enter_if_free(&mut self, client: ClientKey) -> bool {
        let free = self.fits(client);
        if free {
            self.enter(client);
        }
        free
    }

    pub fn request(&mut self, client: ClientKey, who: Address) -> Decision {
        if self.fits(client) {
            self.enter(client);
            return Decision::Admitted;
        }
        if self.queue.len() >= self.capacity.queue {
            return Decision::Refused;
        }
        self.queue.push_back((client, who));
        Decision::Queued(self.queue.len() - 1)
    }

    /// A test has ended; says who may begin now.
    pub fn release(&mut self, client: ClientKey) -> Vec<Address> {
        self.running = self.running.saturating_sub(1);
        if let Some(count) = self.by_client.get_mut(&client) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_client.remove(&client);
            }
        }
        self.admit_waiting()
    }

    fn admit_waiting(&mut self) -> Vec<Address> {
        let mut admitted = Vec::new();
        let mut index = 0;
        while index < self.queue.len() {
            let (client, who) = self.queue[index];
            if self.fits(client) {
                self.queue.remove(index);
                self.enter(client);
                admitted.push(who);
            } else {
                index += 1;
            }
        }
        admitted
    }

    /// Somebody gives up waiting. False: they are not in the queue, so they were admitted already.
    pub fn leave_queue(&mut self, who: Address) -> bool {
        let before = self.queue.len();
        self.queue.retain(|(_, waiting)| *waiting != who);
        self.queue.len() < before
    }

    /// Everybody in the queue, who is to be sent away because the server stops.
    pub fn clear_queue(&mut self) -> Vec<Address> {
        self.queue.drain(..).map(|(_, who)| who).collect()
    }

    pub fn running(&self) -> usize {
        self.running
    }

    pub fn waiting(&self) -> usize {
        self.queue.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    fn client(last: u8) -> ClientKey {
        ClientKey::of(IpAddr::from([10, 0, 0, last]))
    }

    fn admission(tests: usize, tests_per_client: usize, queue: usize) -> Admission {
        Admission::new(Capacity { tests, tests_per_client, queue })
    }

    #[test]
    fn a_full_server_queues_then_refuses_and_admits_in_order() {
        let mut admission = admission(1, 0, 2);
        let at = |token| Address::for_tests(0, token);
        assert_eq!(admission.request(client(1), at(1)), Decision::Admitted);
        assert_eq!(admission.request(client(2), at(2)), Decision::Queued(0));
        assert_eq!(admission.request(client(3), at(3)), Decision::Queued(1));
        assert_eq!(admission.request(client(4), at(4)), Decision::Refused);
        assert_eq!(admission.release(client(1)), [at(2)]);
        assert!(admission.leave_queue(at(3)) && !admission.leave_queue(at(2)));
        assert_eq!(admission.release(client(2)), []);
        assert_eq!((admission.running(), admission.waiting()), (0, 0));
    }

    #[test]
    fn one_greedy_client_does_not_block_the_others() {
        let mut admission = admission(2, 1, 8);
        let at = |token| Address::for_tests(0, token);
        assert_eq!(admission.request(client(1), at(1)), Decision::Admitted);
        assert_eq!(admission.request(client(1), at(2)), Decision::Queued(0));
        assert_eq!(admission.request(client(2), at(3)), Decision::Admitted);
        assert_eq!(admission.release(client(2)), []);
        assert_eq!(admission.release(client(1)), [at(2)]);
    }
}
