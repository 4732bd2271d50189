// SPDX-License-Identifier: Apache-2.0
//! How many connections does each client have?

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Who counts as one client: an IPv4 address, or the /64 network that an IPv6 host chooses from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientKey(IpAddr);

impl ClientKey {
    pub fn of(address: IpAddr) -> ClientKey {
        match address.to_canonical() {
            IpAddr::V4(v4) => ClientKey(v4.into()),
            IpAddr::V6(v6) => {
                ClientKey(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into())
            }
        }
    }
}

/// Counts connections, all and by client.
#[derive(Debug, Default)]
pub struct Clients {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    total: usize,
    by_client: HashMap<ClientKey, usize>,
}

/// One counted connection; dropping it counts down.
#[derive(Debug)]
pub struct Connection {
    clients: Arc<Clients>,
    client: ClientKey,
}

impl Clients {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more connection unless that is beyond a limit; 0 is no limit.
    pub fn connect(
        self: &Arc<Clients>,
        address: IpAddr,
        most: usize,
        most_of_one: usize,
    ) -> Option<Connection> {
        let client = ClientKey::of(address);
        let mut counts = self.counts();
        let one = counts.by_client.get(&client).copied().unwrap_or(0);
        if (most > 0 && counts.total >= most) || (most_of_one > 0 && one >= most_of_one) {
            return None;
        }
        counts.total += 1;
        counts.by_client.insert(client, one + 1);
        Some(Connection { clients: Arc::clone(self), client })
    }

    pub fn total(&self) -> usize {
        self.counts().total
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut counts = self.clients.counts();
        counts.total -= 1;
        if let Some(one) = counts.by_client.get_mut(&self.client) {
            *one -= 1;
            if *one == 0 {
                counts.by_client.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_for_all_and_for_one_and_end_with_the_connection() {
        let clients = Arc::new(Clients::default());
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let first = clients.connect(one, 2, 1);
        assert!(first.is_some() && clients.connect(one, 2, 1).is_none());
        let second = clients.connect(other, 2, 1);
        assert!(second.is_some() && clients.connect(IpAddr::from([10, 0, 0, 3]), 2, 1).is_none());
        drop(first);
        assert_eq!(clients.total(), 1);
        assert!(clients.connect(one, 2, 1).is_some());
    }

    #[test]
    fn one_ipv6_network_is_one_client_and_mapped_ipv4_is_ipv4() {
        let key = |text: &str| ClientKey::of(text.parse().unwrap());
        assert_eq!(key("2001:db8::1"), key("2001:db8::ffff:1"));
        assert_ne!(key("2001:db8::1"), key("2001:db8:0:1::1"));
        assert_eq!(key("::ffff:10.0.0.1"), key("10.0.0.1"));
    }
}
