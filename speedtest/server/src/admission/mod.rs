// SPDX-License-Identifier: Apache-2.0
//! Which client may test now, which waits, which is refused? Tests on a full server disturb each other.
//!
//! Whoever tests holds a [`Ticket`], whoever waits a [`Place`]; dropping them gives back what they stand
//! for. `queue` decides the order.

mod queue;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use speedtest_net::reactor::{Address, Lanes};

use crate::clients::ClientKey;
pub use queue::Capacity;
use queue::{Answer, Queue};

/// What a client that waits or tests is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Its test may begin: its place is worth a ticket.
    Admitted,
    /// The queue is full, and its place went to a client that has fewer.
    Displaced,
    /// The server takes no more tests; its place is gone.
    Draining,
    /// Its running test ends now.
    Terminate,
}

/// The answer to a request for a test.
pub enum Decision {
    Admitted(Ticket),
    /// Waits behind about this many others.
    Queued(Place, usize),
    Refused,
}

/// Gives out the right to run tests.
pub struct Admission {
    queue: Mutex<Queue>,
    /// The holders of tickets that are in a loop.
    holders: Mutex<HashSet<Address>>,
    closed: AtomicBool,
    started: AtomicU64,
    lanes: Lanes,
}

impl Admission {
    pub fn new(capacity: Capacity, lanes: Lanes) -> Arc<Admission> {
        Arc::new(Admission {
            queue: Mutex::new(Queue::new(capacity)),
            holders: Mutex::default(),
            closed: AtomicBool::new(false),
            started: AtomicU64::new(0),
            lanes,
        })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn holders(&self) -> MutexGuard<'_, HashSet<Address>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests the right to run a test for the handler at `who`.
    pub fn request(self: &Arc<Admission>, client: ClientKey, who: Address) -> Decision {
        if self.is_closed() {
            return Decision::Refused;
        }
        let answer = self.queue().request(client, who);
        match answer {
            Answer::Admitted => Decision::Admitted(self.ticket(client, Some(who))),
            Answer::Queued { ahead, displaced } => {
                if let Some(other) = displaced {
                    self.lanes.tell(other, Call::Displaced);
                }
                let admission = Arc::clone(self);
                Decision::Queued(Place { admission, client, who, left: false }, ahead)
            }
            Answer::Refused => Decision::Refused,
        }
    }

    /// The right to run a test on several connections, at once or not at all.
    pub fn enter_if_free(self: &Arc<Admission>, client: ClientKey) -> Option<Ticket> {
        let free = !self.is_closed() && self.queue().enter_if_free(client);
        free.then(|| self.ticket(client, None))
    }

    fn ticket(self: &Arc<Admission>, client: ClientKey, holder: Option<Address>) -> Ticket {
        self.holders().extend(holder);
        self.started.fetch_add(1, Ordering::Relaxed);
        Ticket { admission: Arc::clone(self), client, holder }
    }

    fn release(&self, client: ClientKey) {
        let admitted = self.queue().release(client);
        for next in admitted {
            self.lanes.tell(next, Call::Admitted);
        }
    }

    /// The server takes no more tests.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Takes no more tests and sends the waiting ones away; what runs goes on.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let waiting = self.queue().clear();
        for who in waiting {
            self.lanes.tell(who, Call::Draining);
        }
    }

    /// The holders of all running tests that are in a loop.
    pub fn testing(&self) -> Vec<Address> {
        self.holders().iter().copied().collect()
    }

    /// Tests that have begun since the server started.
    pub fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Tests that run, and that wait.
    pub fn counts(&self) -> (usize, usize) {
        let queue = self.queue();
        (queue.running(), queue.waiting())
    }
}

/// The right to run one test; dropping it lets the next one in.
pub struct Ticket {
    admission: Arc<Admission>,
    client: ClientKey,
    /// None: what holds it is in no loop.
    holder: Option<Address>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(holder) = self.holder {
            self.admission.holders().remove(&holder);
        }
        self.admission.release(self.client);
    }
}

/// A place in the queue; dropping it leaves the queue.
pub struct Place {
    admission: Arc<Admission>,
    client: ClientKey,
    who: Address,
    left: bool,
}

impl Place {
    /// The ticket, once [`Call::Admitted`] has come; none if this place was not admitted.
    pub fn claim(mut self) -> Option<Ticket> {
        self.left = self.admission.queue().claim(self.who);
        self.left.then(|| self.admission.ticket(self.client, Some(self.who)))
    }

    /// Has its turn come, though perhaps the news of it has not?
    pub fn is_admitted(&self) -> bool {
        self.admission.queue().is_admitted(self.who)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.left && self.admission.queue().leave(self.client, self.who) {
            // Admitted meanwhile: what was meant for this one is the next one's.
            self.admission.release(self.client);
        }
    }
}
