// SPDX-License-Identifier: Apache-2.0
use super::*;

fn clients(all: usize, of_client: usize, pending_of_client: usize) -> Arc<Clients> {
    let bounds = Bounds { all, of_client, pending_of_client };
    Clients::new(bounds, Prefixes::default(), Lanes::new(1).unwrap())
}

fn key(text: &str) -> ClientKey {
    ClientKey::of(text.parse().unwrap(), &Prefixes::default())
}

#[test]
fn limits_hold_for_all_and_for_one_and_end_with_the_connection() {
    let clients = clients(2, 1, 0);
    let mut first = clients.connect(key("10.0.0.1"), true);
    first.as_mut().unwrap().busy();
    assert!(clients.connect(key("10.0.0.1"), true).is_none());
    let proxy = clients.connect(key("10.0.0.1"), false);
    assert!(proxy.is_some() && clients.connect(key("10.0.0.3"), true).is_none());
    drop((first, proxy));
    assert_eq!(clients.total(), 0);
    assert!(clients.connect(key("10.0.0.1"), true).is_some());
}

#[test]
fn the_oldest_connection_that_only_waits_makes_room_for_a_new_one() {
    let clients = clients(0, 4, 2);
    let mut all: Vec<Connection> = Vec::new();
    for token in 0..3 {
        let mut new = clients.connect(key("10.0.0.1"), true).unwrap();
        new.entered(Address::for_tests(0, token));
        all.push(new);
    }
    let pending = |clients: &Clients| clients.counts().by_client[&key("10.0.0.1")].pending.len();
    assert_eq!(pending(&clients), 2, "the first of three was asked to close");
    all.iter_mut().for_each(Connection::busy);
    all.push(clients.connect(key("10.0.0.1"), true).unwrap());
    all[3].busy();
    assert!(clients.connect(key("10.0.0.1"), true).is_none(), "all four are in use");
    all[2].idle(Address::for_tests(0, 2));
    assert!(clients.connect(key("10.0.0.1"), true).is_some());
    all[2].busy();
    assert!(all[2].is_busy());
}

#[test]
fn a_network_is_one_client_and_mapped_ipv4_is_ipv4() {
    assert_eq!(key("2001:db8::1"), key("2001:db8::ffff:1"));
    assert_ne!(key("2001:db8::1"), key("2001:db8:0:1::1"));
    assert_eq!(key("::ffff:10.0.0.1"), key("10.0.0.1"));
    assert_ne!(key("10.0.0.2"), key("10.0.0.1"));
    let wide = |text: &str| ClientKey::of(text.parse().unwrap(), &Prefixes { v4: 24, v6: 48 });
    assert_eq!(wide("10.0.0.1"), wide("10.0.0.255"));
    assert_ne!(wide("10.0.0.1"), wide("10.0.1.1"));
    assert_eq!(wide("2001:db8:0:1::1"), wide("2001:db8::1"));
}
