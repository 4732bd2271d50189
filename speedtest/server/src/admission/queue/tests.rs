// SPDX-License-Identifier: Apache-2.0
use std::net::IpAddr;

use super::*;
use crate::config::Prefixes;

fn client(last: u8) -> ClientKey {
    ClientKey::of(IpAddr::from([10, 0, 0, last]), &Prefixes::default())
}

fn queue(tests: usize, tests_per_client: usize, queue: usize) -> Queue {
    Queue::new(Capacity { tests, tests_per_client, queue, queue_per_client: 0 })
}

fn at(token: u64) -> Address {
    Address::for_tests(0, token)
}

fn behind(ahead: usize) -> Answer {
    Answer::Queued { ahead, displaced: None }
}

#[test]
fn a_full_server_queues_then_refuses_and_admits_in_order() {
    let mut queue = queue(1, 0, 2);
    assert_eq!(queue.request(client(1), at(1)), Answer::Admitted);
    assert_eq!(queue.request(client(2), at(2)), behind(0));
    assert_eq!(queue.request(client(3), at(3)), behind(1));
    assert_eq!(queue.request(client(4), at(4)), Answer::Refused);
    assert_eq!(queue.release(client(1)), [at(2)]);
    assert!(!queue.leave(client(3), at(3)) && queue.leave(client(2), at(2)));
    assert_eq!(queue.release(client(2)), []);
    assert_eq!((queue.running(), queue.waiting()), (0, 0));
}

#[test]
fn one_greedy_client_does_not_block_the_others() {
    let mut queue = queue(2, 1, 8);
    assert_eq!(queue.request(client(1), at(1)), Answer::Admitted);
    assert_eq!(queue.request(client(1), at(2)), behind(0));
    assert_eq!(queue.request(client(2), at(3)), Answer::Admitted);
    assert_eq!(queue.release(client(2)), []);
    assert_eq!(queue.release(client(1)), [at(2)]);
}

#[test]
fn many_places_of_one_client_are_one_turn_for_another() {
    let mut queue = queue(2, 0, 64);
    for token in 0..22 {
        queue.request(client(1), at(token));
    }
    assert_eq!(queue.request(client(2), at(100)), behind(1));
    assert_eq!(queue.request(client(2), at(101)), behind(3));
    assert_eq!(queue.release(client(1)), [at(100)], "it has no test yet, the other one has one");
    assert_eq!(queue.release(client(1)), [at(2)]);
    assert_eq!(
        queue.release(client(1)),
        [at(3)],
        "one runs of each; the longest wait was the first's"
    );
    assert_eq!(queue.release(client(2)), [at(101)]);
}

#[test]
fn of_a_full_queue_the_last_place_of_the_client_with_the_most_is_given_away() {
    let mut queue = queue(1, 0, 3);
    for token in 0..4 {
        queue.request(client(1), at(token));
    }
    let displacing = |token| Answer::Queued { ahead: 1, displaced: Some(at(token)) };
    assert_eq!(queue.request(client(2), at(10)), displacing(3));
    assert_eq!(queue.request(client(2), at(11)), Answer::Refused, "it would have as many");
    assert_eq!(queue.request(client(1), at(4)), Answer::Refused);
    assert!(!queue.leave(client(1), at(3)), "the displaced one is not admitted");
    assert_eq!(queue.waiting(), 3);
}

#[test]
fn a_client_has_only_its_number_of_places() {
    let mut queue =
        Queue::new(Capacity { tests: 1, tests_per_client: 0, queue: 8, queue_per_client: 2 });
    for token in 0..3 {
        assert_ne!(queue.request(client(1), at(token)), Answer::Refused);
    }
    assert_eq!(queue.request(client(1), at(3)), Answer::Refused);
    assert_ne!(queue.request(client(2), at(4)), Answer::Refused);
}

/// Check in any order of events: the counts hold, no test is lost, and no client with fewer running
/// tests waits while one with more is admitted.
#[test]
fn every_order_of_events_keeps_the_bounds() {
    let mut random = 1u64;
    let mut next = |below: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut queue =
        Queue::new(Capacity { tests: 4, tests_per_client: 3, queue: 6, queue_per_client: 4 });
    let (mut tests, mut waiting) = (Vec::new(), HashMap::new());
    for token in 0..20_000 {
        let who = client(next(5) as u8);
        match next(3) {
            0 | 1 => match queue.request(who, at(token)) {
                Answer::Admitted => tests.push(who),
                Answer::Queued { displaced, .. } => {
                    waiting.insert(at(token), who);
                    if let Some(lost) = displaced {
                        assert_ne!(waiting.remove(&lost), Some(who), "displaced its own");
                    }
                }
                Answer::Refused => assert!(queue.waiting() > 0),
            },
            _ if !tests.is_empty() => {
                let ended = tests.swap_remove(next(tests.len() as u64) as usize);
                for called in queue.release(ended) {
                    assert!(queue.claim(called));
                    tests.push(waiting.remove(&called).expect("was called twice or never waited"));
                }
            }
            _ => {}
        }
        assert_eq!((queue.running(), queue.waiting()), (tests.len(), waiting.len()));
        assert!(tests.len() <= 4 && waiting.len() <= 6);
        for number in 0..5 {
            let running = tests.iter().filter(|key| **key == client(number)).count();
            let places = waiting.values().filter(|key| **key == client(number)).count();
            assert!(running <= 3 && places <= 4 && running == queue.running_of(client(number)));
            let idle_slot = tests.len() < 4 && running < 3;
            assert!(!(idle_slot && places > 0), "a slot is free and {places} wait");
        }
    }
}
