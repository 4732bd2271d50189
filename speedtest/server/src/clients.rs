// SPDX-License-Identifier: Apache-2.0
//! Connections by client, and the choice of those to close for a new one.
//!
//! A connection is pending until it has sent a request, and idle between two requests. If a client
//! has too many, the one that has been pending (or else idle) for longest is closed. So connections
//! that only wait keep nobody out, even behind the same address.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use speedtest_net::reactor::{Address, Lanes};

use crate::config::Prefixes;

/// Identity of a client: its address, or the network from which its host chooses addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientKey(IpAddr);

impl ClientKey {
    pub fn of(address: IpAddr, prefixes: &Prefixes) -> ClientKey {
        ClientKey(match address.to_canonical() {
            IpAddr::V4(v4) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(prefixes.v4)).unwrap_or(0);
                Ipv4Addr::from_bits(v4.to_bits() & mask).into()
            }
            IpAddr::V6(v6) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(prefixes.v6)).unwrap_or(0);
                Ipv6Addr::from_bits(v6.to_bits() & mask).into()
            }
        })
    }
}

/// Order to a pending or idle connection's handler: close, another connection needs its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Displaced;

/// Limits of connections; 0 is no limit.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub all: usize,
    pub of_client: usize,
    pub pending_of_client: usize,
}

/// Counts connections, all and by client.
pub struct Clients {
    bounds: Bounds,
    prefixes: Prefixes,
    lanes: Lanes,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    total: usize,
    by_client: HashMap<ClientKey, One>,
    /// Next sequence number: the lowest one has waited for longest.
    next: u64,
    /// Clients that came since the start; one that comes back counts again.
    arrived: u64,
}

/// Connections of one client. Those without an address are not in their loops yet.
#[derive(Debug, Default)]
struct One {
    connections: usize,
    pending: BTreeMap<u64, Option<Address>>,
    idle: BTreeMap<u64, Option<Address>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Pending(u64),
    Idle(u64),
    Busy,
}

/// One counted connection; dropping it counts down.
pub struct Connection {
    clients: Arc<Clients>,
    client: ClientKey,
    state: State,
}

impl Clients {
    pub fn new(bounds: Bounds, prefixes: Prefixes, lanes: Lanes) -> Arc<Clients> {
        Arc::new(Clients { bounds, prefixes, lanes, counts: Mutex::default() })
    }

    pub fn key(&self, address: IpAddr) -> ClientKey {
        ClientKey::of(address, &self.prefixes)
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Count one more pending connection, unless there is no room. `bounded`: it is of one client,
    /// not of a proxy for many.
    pub fn connect(self: &Arc<Clients>, client: ClientKey, bounded: bool) -> Option<Connection> {
        let mut counts = self.counts();
        let displaced = match counts.room(&self.bounds, client, bounded) {
            Room::Free => None,
            Room::Instead(of) => of,
            Room::Later(of) => {
                drop(counts);
                self.displace(of);
                return None;
            }
        };
        counts.total += 1;
        counts.next += 1;
        let number = counts.next;
        let one = counts.by_client.entry(client).or_default();
        one.connections += 1;
        let is_first = one.connections == 1;
        one.pending.insert(number, None);
        counts.arrived += u64::from(is_first);
        drop(counts);
        self.displace(displaced);
        Some(Connection { clients: Arc::clone(self), client, state: State::Pending(number) })
    }

    fn displace(&self, who: Option<Address>) {
        if let Some(who) = who {
            self.lanes.tell(who, Displaced);
        }
    }

    /// Return the most connections at once, of all clients.
    pub fn most(&self) -> usize {
        self.bounds.all
    }

    pub fn total(&self) -> usize {
        self.counts().total
    }

    /// Return the connected clients, and those that came since the start.
    pub fn present_and_arrived(&self) -> [u64; 2] {
        let counts = self.counts();
        [counts.by_client.len() as u64, counts.arrived]
    }
}

/// Room for one more connection.
enum Room {
    Free,
    /// Room once another one leaves; it is notified at this address, or once it has one.
    Instead(Option<Address>),
    /// No room until this one has left.
    Later(Option<Address>),
}

impl Counts {
    fn room(&mut self, bounds: &Bounds, client: ClientKey, bounded: bool) -> Room {
        if bounds.all > 0 && self.total >= bounds.all {
            // A descriptor is free only once another connection has left; a client's own do not
            // replace each other.
            let own = self.by_client.get(&client).map_or(0, |one| one.connections);
            let most = self.by_client.values_mut().max_by_key(|one| one.connections);
            let other = most.filter(|one| one.connections > own).and_then(One::oldest);
            return Room::Later(other.flatten());
        }
        let Some(one) = self.by_client.get_mut(&client).filter(|_| bounded) else {
            return Room::Free;
        };
        let is_full = |has: usize, most: usize| most > 0 && has >= most;
        let oldest = if is_full(one.pending.len(), bounds.pending_of_client) {
            take_oldest(&mut one.pending)
        } else if is_full(one.connections, bounds.of_client) {
            one.oldest()
        } else {
            return Room::Free;
        };
        oldest.map_or(Room::Later(None), Room::Instead)
    }
}

impl One {
    fn oldest(&mut self) -> Option<Option<Address>> {
        take_oldest(&mut self.pending).or_else(|| take_oldest(&mut self.idle))
    }

    fn forget(&mut self, state: State) -> Option<Address> {
        match state {
            State::Pending(number) => self.pending.remove(&number).flatten(),
            State::Idle(number) => self.idle.remove(&number).flatten(),
            State::Busy => None,
        }
    }
}

/// Remove the one that has waited for longest. One on the way to its loop has no address yet; it is
/// notified when it arrives there.
fn take_oldest(waiting: &mut BTreeMap<u64, Option<Address>>) -> Option<Option<Address>> {
    waiting.pop_first().map(|(_, address)| address)
}

impl Connection {
    /// Return the client that it counts for.
    pub fn client(&self) -> ClientKey {
        self.client
    }

    /// Record that it is in its loop and can be asked to close.
    pub fn entered(&mut self, at: Address) {
        let State::Pending(number) = self.state else { return };
        let mut counts = self.clients.counts();
        let one = counts.by_client.get_mut(&self.client);
        match one.and_then(|one| one.pending.get_mut(&number)) {
            Some(place) => *place = Some(at),
            // Displaced on its way.
            None => self.clients.lanes.tell(at, Displaced),
        }
    }

    /// Mark it as busy: it has sent a request, and is not closed for another one.
    pub fn busy(&mut self) {
        if self.state != State::Busy {
            let mut counts = self.clients.counts();
            if let Some(one) = counts.by_client.get_mut(&self.client) {
                one.forget(self.state);
            }
            self.state = State::Busy;
        }
    }

    /// Mark it as idle: its request is answered, and it may send another.
    pub fn idle(&mut self, at: Address) {
        if self.state == State::Busy {
            let mut counts = self.clients.counts();
            counts.next += 1;
            let number = counts.next;
            if let Some(one) = counts.by_client.get_mut(&self.client) {
                one.idle.insert(number, Some(at));
            }
            self.state = State::Idle(number);
        }
    }

    /// Return whether to ignore a [`Displaced`] that comes now.
    pub fn is_busy(&self) -> bool {
        self.state == State::Busy
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut counts = self.clients.counts();
        counts.total -= 1;
        if let Some(one) = counts.by_client.get_mut(&self.client) {
            one.forget(self.state);
            one.connections -= 1;
            if one.connections == 0 {
                counts.by_client.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests;
