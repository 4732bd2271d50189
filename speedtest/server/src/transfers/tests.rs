// SPDX-License-Identifier: Apache-2.0
use super::*;
use crate::config::Prefixes;

fn client(last: u8) -> ClientKey {
    ClientKey::of([10, 0, 0, last].into(), &Prefixes::default())
}

fn transfer_at(sent: bool, began: Instant, seconds: f64) -> Transfer {
    let wall_us = seconds * 1e6;
    let summary = Summary {
        wall_us,
        busy_us: wall_us * 0.9,
        sndbuf_limited_us: wall_us * 0.8,
        ..Summary::default()
    };
    let time = Duration::from_secs_f64(seconds);
    Transfer {
        sent,
        bytes: 1000,
        ended: began + time,
        time,
        held: Duration::ZERO,
        summary,
        load: Load::default(),
        aborted: false,
        other_load: OtherLoad::default(),
        link_bps: None,
    }
}

fn transfer(sent: bool) -> Transfer {
    transfer_at(sent, Instant::now(), 1.0)
}

#[test]
fn a_test_is_judged_by_its_own_transfers_in_each_direction() {
    let transfers = Transfers::default();
    transfers.add(client(1), "a", transfer(true));
    transfers.add(client(1), "a", transfer(true));
    transfers.add(client(1), "b", transfer(false));
    let answer = transfers.verdicts(client(1), "a", None).unwrap();
    assert_eq!(answer["download"]["verdict"]["limited_by"], "send_buffer");
    assert_eq!((&answer["download"]["bytes"], &answer["upload"]), (&json!(2000), &Value::Null));
    assert_eq!(transfers.verdicts(client(1), "c", None), None);
}

#[test]
fn fresh_ids_of_one_client_displace_only_its_own() {
    let transfers = Transfers::default();
    transfers.add(client(2), "kept", transfer(true));
    for id in 0..2 * MOST_TESTS {
        transfers.add(client(1), &id.to_string(), transfer(true));
    }
    assert_eq!(transfers.verdicts(client(1), "0", None), None);
    assert!(transfers.verdicts(client(2), "kept", None).is_some());
    assert_eq!(transfers.verdicts(client(1), "kept", None), None, "it is another client's");
    assert_eq!(transfers.kept.lock().unwrap().tests, MOST_OF_CLIENT + 1);
}

#[test]
fn many_clients_cannot_fill_the_memory() {
    let transfers = Transfers::default();
    for number in 0..=u8::MAX {
        for id in 0..20 {
            transfers.add(client(number), &id.to_string(), transfer(true));
        }
    }
    assert_eq!(transfers.kept.lock().unwrap().tests, MOST_TESTS);
    assert!(transfers.verdicts(client(0), "19", None).is_some(), "the client with the most loses");
    for _ in 0..1000 {
        transfers.add(client(1), "many", transfer(true));
    }
    let kept = transfers.verdicts(client(1), "many", None).unwrap();
    assert_eq!(
        (&kept["download"]["transfers"], &kept["download"]["bytes"]),
        (&json!(1000), &json!(1_000_000))
    );
}

#[test]
fn transfers_one_after_the_other_are_as_fast_as_one_of_them() {
    let (transfers, start) = (Transfers::default(), Instant::now());
    for number in 0..20 {
        let began = start + Duration::from_secs(number);
        transfers.add(client(1), "slow", transfer_at(true, began, 1.0));
        transfers.add(client(1), "two", transfer_at(true, start, 20.0));
    }
    // 8,000 bit/s each, and 10,000 allowed.
    let slow = transfers.verdicts(client(1), "slow", Some(10_000.0)).unwrap();
    assert_eq!(slow["download"]["verdict"]["limited_by"], "send_buffer");
    let together = transfers.verdicts(client(1), "two", Some(8_000.0)).unwrap();
    assert_eq!(together["download"]["verdict"]["limited_by"], "policy");
}

#[test]
fn transfers_that_the_rate_kept_back_are_limited_by_it_though_late() {
    let (transfers, start) = (Transfers::default(), Instant::now());
    for (id, held_ms) in [("held", 600), ("seldom", 400)] {
        for number in 0..4 {
            let began = start + Duration::from_secs(number);
            let held = Duration::from_millis(held_ms);
            transfers.add(client(1), id, Transfer { held, ..transfer_at(true, began, 1.0) });
        }
    }
    // 8,000 bit/s each, and 10,000 allowed.
    for (id, limiter) in [("held", "policy"), ("seldom", "send_buffer")] {
        let verdicts = transfers.verdicts(client(1), id, Some(10_000.0)).unwrap();
        assert_eq!(verdicts["download"]["verdict"]["limited_by"], limiter);
    }
}
