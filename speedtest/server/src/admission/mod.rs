// SPDX-License-Identifier: Apache-2.0
//! Admission of tests: some run, some wait, others are refused. Tests on a full server slow each
//! other.
//!
//! A client that tests holds a [`Ticket`], one that waits a [`Place`]; dropping either frees it.
//! `queue` decides the order.

mod queue;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use speedtest_net::reactor::{Address, Lanes};

use crate::clients::ClientKey;
pub use queue::Capacity;
use queue::{Answer, Queue};

/// Message to a client that waits or tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Its test may begin: it can claim a ticket for its place.
    Admitted,
    /// The queue is full, and its place went to a client that has fewer.
    Displaced,
    /// The server takes no more tests; its place is gone.
    Draining,
    /// Its running test ends now.
    Terminate,
}

/// Answer to a request for a test.
pub enum Decision {
    Admitted(Ticket),
    /// Waits after about this many others.
    Queued(Place, usize),
    Refused,
}

/// Grants the right to run tests.
pub struct Admission {
    queue: Mutex<Queue>,
    /// Ticket holders that are in a loop.
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

    /// Request the right to run a test for the handler at `who`.
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

    /// Request the right to run a test on several connections, at once or not at all.
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

    /// Return whether the server takes no more tests.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Take no more tests and send waiting ones away; running tests continue.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let waiting = self.queue().clear();
        for who in waiting {
            self.lanes.tell(who, Call::Draining);
        }
    }

    /// Return the holders of all running tests that are in a loop.
    pub fn testing(&self) -> Vec<Address> {
        self.holders().iter().copied().collect()
    }

    /// Return the tests begun since the server started.
    pub fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Return the numbers of running and of waiting tests.
    pub fn counts(&self) -> (usize, usize) {
        let queue = self.queue();
        (queue.running(), queue.waiting())
    }
}

/// Right to run one test; dropping it lets the next one in.
pub struct Ticket {
    admission: Arc<Admission>,
    client: ClientKey,
    /// None: the holder is in no loop.
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

/// Place in the queue; dropping it leaves the queue.
pub struct Place {
    admission: Arc<Admission>,
    client: ClientKey,
    who: Address,
    left: bool,
}

impl Place {
    /// Return the ticket after [`Call::Admitted`]; None if this place was not admitted.
    pub fn claim(mut self) -> Option<Ticket> {
        self.left = self.admission.queue().claim(self.who);
        self.left.then(|| self.admission.ticket(self.client, Some(self.who)))
    }

    /// Return whether it is admitted, even if the message is still on its way.
    pub fn is_admitted(&self) -> bool {
        self.admission.queue().is_admitted(self.who)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.left && self.admission.queue().leave(self.client, self.who) {
            // Admitted meanwhile: pass the right to the next one.
            self.admission.release(self.client);
        }
    }
}
