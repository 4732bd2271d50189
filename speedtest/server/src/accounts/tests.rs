// SPDX-License-Identifier: Apache-2.0
use super::*;
use crate::config::Prefixes;

fn client(last: u8) -> ClientKey {
    ClientKey::of([10, 0, 0, last].into(), &Prefixes::default())
}

fn accounts(limits: Limits) -> (Accounts, Instant) {
    let now = Instant::now();
    (Accounts::new(limits, now), now)
}

#[test]
fn the_rate_is_that_of_all_bodies_together_and_idle_time_is_not_saved_up() {
    let (accounts, now) = accounts(Limits { rate_bps: 8_000_000, ..Limits::default() });
    let (one, same) = (accounts.of(client(1), now), accounts.of(client(1), now));
    assert_eq!(one.wait_until(now), None);
    let start = now + CATCH_UP;
    one.paced(500_000, start);
    same.paced(500_000, start);
    assert_eq!(one.wait_until(start), Some(now + Duration::from_secs(1)));
    let later = now + Duration::from_secs(60);
    one.paced(1_000_000, later);
    assert_eq!(one.wait_until(later), Some(later + Duration::from_secs(1) - CATCH_UP));
    assert_eq!(accounts.of(client(2), now).wait_until(now), None);
}

#[test]
fn small_bodies_keep_the_rate_however_many_there_are_at_once() {
    let (accounts, now) = accounts(Limits { rate_bps: 100_000_000, ..Limits::default() });
    let account = accounts.of(client(1), now);
    let (body, end) = (64 << 10, now + Duration::from_secs(10));
    let (mut moved, mut at) = (0u64, now);
    let allowed = 100_000_000.0 / 8.0 * 10.0;
    while at < end && (moved as f64) < 2.0 * allowed {
        // Each of many connections requests its next body as soon as it may.
        match account.reserve(body, at) {
            Some(start) if start < end => moved += body,
            Some(_) => {}
            None => at += Duration::from_millis(1),
        }
    }
    assert!((moved as f64) < allowed * 1.01 && moved as f64 > allowed * 0.99, "{moved}");
}

#[test]
fn a_pause_returns_nothing_before_the_window_is_over() {
    let limits = Limits { client_bytes: 1000, window_s: 60, ..Limits::default() };
    let (accounts, now) = accounts(limits);
    let account = accounts.of(client(1), now);
    accounts.moved(&account, 1000, now);
    drop(account);
    let later = now + Duration::from_secs(59);
    accounts.sweep(later);
    assert_eq!(accounts.of(client(1), later).spent_for(later), Some(Duration::from_secs(1)));
    assert_eq!(accounts.of(client(2), later).spent_for(later), None);
    let over = now + Duration::from_secs(60);
    assert_eq!(accounts.of(client(1), over).spent_for(over), None);
    assert_eq!(accounts.all_bytes(), 1000);
}

#[test]
fn accounts_are_forgotten_when_nobody_uses_them_and_are_never_too_many() {
    let (accounts, now) = accounts(Limits { window_s: 60, ..Limits::default() });
    let used = accounts.of(client(1), now);
    accounts.of(client(2), now);
    accounts.sweep(now + Duration::from_secs(60));
    assert_eq!(accounts.locked().len(), 1);
    drop(used);
    let few = Accounts { most: 3, ..accounts };
    for last in 0..100 {
        few.of(client(last), now);
    }
    assert_eq!(few.locked().len(), 3);
}

#[test]
fn small_bodies_without_a_test_have_a_limit_for_each_window() {
    let (accounts, now) = accounts(Limits { window_s: 60, ..Limits::default() });
    let account = accounts.of(client(1), now);
    let bodies = (0..1000).take_while(|_| account.take_small(64 << 10, now)).count() as u64;
    assert_eq!(bodies * (64 << 10), SMALL_BYTES);
    assert!(account.take_small(0, now), "a probe without a body costs nothing");
    assert!(account.take_small(64 << 10, now + Duration::from_secs(60)));
}

#[test]
fn one_client_cannot_report_for_all() {
    let limits = Limits { results_per_client: 2, results: 5, ..Limits::default() };
    let (accounts, now) = accounts(limits);
    let reports =
        |who: u8, at: Instant| (0..10).filter(|_| accounts.may_report(client(who), at)).count();
    assert_eq!([reports(1, now), reports(2, now), reports(3, now), reports(4, now)], [2, 2, 1, 0]);
    assert_eq!(reports(1, now + Duration::from_secs(30)), 1);
}
