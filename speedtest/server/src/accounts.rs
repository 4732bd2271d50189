// SPDX-License-Identifier: Apache-2.0
//! Usage by client: the rate of its HTTP bodies, its bytes in a window of time, its reports.
//!
//! An account outlives connections, tests and pauses. It is removed when its window is over and
//! nobody uses it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clients::ClientKey;
use crate::config::Limits;

/// Delay of a body that its loop may make up for.
const CATCH_UP: Duration = Duration::from_millis(80);
/// Wait for the rate beyond which a client gets no further body.
const MOST_WAIT: Duration = Duration::from_secs(2);
/// Bytes of small bodies in a window that need no right to run a test.
const SMALL_BYTES: u64 = 16 << 20;
/// Most accounts kept, about 400 bytes each; one more closes another.
const MOST_ACCOUNTS: usize = 65_536;
const MINUTE: Duration = Duration::from_secs(60);

/// Accounts of all clients.
pub struct Accounts {
    limits: Limits,
    by_client: Mutex<HashMap<ClientKey, Arc<Account>>>,
    all_bytes: AtomicU64,
    reports: Mutex<Reports>,
    most: usize,
}

/// Account of one client.
pub struct Account {
    limits: Limits,
    state: Mutex<State>,
}

struct State {
    /// Time at which the next byte over HTTP may move at the allowed rate.
    due: Instant,
    window_began: Instant,
    /// Bytes in this window: all, and those of small bodies.
    bytes: u64,
    small_bytes: u64,
    used: Instant,
    reports: Reports,
}

/// Allowance of reported results per minute, refilled evenly.
struct Reports {
    left: f64,
    at: Instant,
}

impl Reports {
    fn new(per_minute: u64, now: Instant) -> Reports {
        Reports { left: per_minute as f64, at: now }
    }

    fn take(&mut self, per_minute: u64, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64() / MINUTE.as_secs_f64();
        self.left = (self.left + passed * per_minute as f64).min(per_minute as f64);
        self.at = now;
        let some = per_minute == 0 || self.left >= 1.0;
        if some {
            self.left -= 1.0;
        }
        some
    }
}

impl Accounts {
    pub fn new(limits: Limits, now: Instant) -> Accounts {
        let reports = Mutex::new(Reports::new(limits.results, now));
        let all_bytes = AtomicU64::new(0);
        Accounts { limits, by_client: Mutex::default(), all_bytes, reports, most: MOST_ACCOUNTS }
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<ClientKey, Arc<Account>>> {
        self.by_client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Return the account of this client; open one if there is none.
    pub fn of(&self, client: ClientKey, now: Instant) -> Arc<Account> {
        let mut by_client = self.locked();
        if !by_client.contains_key(&client) && by_client.len() >= self.most {
            if let Some(other) = by_client.keys().next().copied() {
                by_client.remove(&other);
            }
        }
        let open = || Arc::new(Account::new(self.limits.clone(), now));
        let account = Arc::clone(by_client.entry(client).or_insert_with(open));
        account.state().used = now;
        account
    }

    /// Remove the accounts whose window is over and that nobody uses.
    pub fn sweep(&self, now: Instant) {
        let window = self.limits.window();
        self.locked().retain(|_, account| {
            let unused = now.saturating_duration_since(account.state().used) >= window;
            !unused || Arc::strong_count(account) > 1
        });
    }

    /// Count bytes that a client's test has moved.
    pub fn moved(&self, account: &Account, bytes: u64, now: Instant) {
        self.all_bytes.fetch_add(bytes, Ordering::Relaxed);
        account.count(bytes, now);
    }

    /// Return the bytes of all clients' tests since the server started.
    pub fn all_bytes(&self) -> u64 {
        self.all_bytes.load(Ordering::Relaxed)
    }

    /// Return whether this client may report one more result now.
    pub fn may_report(&self, client: ClientKey, now: Instant) -> bool {
        let account = self.of(client, now);
        if !account.state().reports.take(self.limits.results_per_client, now) {
            return false;
        }
        let mut all = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        all.take(self.limits.results, now)
    }
}

impl Account {
    fn new(limits: Limits, now: Instant) -> Account {
        let reports = Reports::new(limits.results_per_client, now);
        let state = Mutex::new(State {
            due: now,
            window_began: now,
            bytes: 0,
            small_bytes: 0,
            used: now,
            reports,
        });
        Account { limits, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_window(&self, now: Instant) -> MutexGuard<'_, State> {
        let mut state = self.state();
        if now.saturating_duration_since(state.window_began) >= self.limits.window() {
            (state.window_began, state.bytes, state.small_bytes) = (now, 0, 0);
        }
        state
    }

    fn count(&self, bytes: u64, now: Instant) {
        let mut state = self.in_window(now);
        state.bytes += bytes;
        state.used = now;
    }

    /// Return how long this client must wait if it has used all its bytes.
    pub fn spent_for(&self, now: Instant) -> Option<Duration> {
        let state = self.in_window(now);
        let most = self.limits.client_bytes;
        let over = state.window_began + self.limits.window();
        (most > 0 && state.bytes >= most).then(|| over.saturating_duration_since(now))
    }

    /// Return whether this client has moved more than it may.
    pub fn is_over(&self, now: Instant) -> bool {
        let most = self.limits.client_bytes;
        most > 0 && self.in_window(now).bytes > most
    }

    /// Take bytes of a small body from the allowance that needs no test. Return false if it is used
    /// up.
    pub fn take_small(&self, bytes: u64, now: Instant) -> bool {
        let mut state = self.in_window(now);
        let fits = state.small_bytes + bytes <= SMALL_BYTES;
        if fits {
            state.small_bytes += bytes;
        }
        fits
    }

    /// Reserve bytes at the allowed rate; return when they may move. None: the wait would be too
    /// long.
    pub fn reserve(&self, bytes: u64, now: Instant) -> Option<Instant> {
        let mut state = self.state();
        let earliest = now.checked_sub(CATCH_UP).unwrap_or(now);
        let from = state.due.max(earliest);
        if from.saturating_duration_since(now) > MOST_WAIT {
            return None;
        }
        state.due = from + self.takes(bytes);
        Some(from)
    }

    /// Charge bytes that have moved to the allowed rate.
    pub fn paced(&self, bytes: u64, now: Instant) {
        let mut state = self.state();
        let earliest = now.checked_sub(CATCH_UP).unwrap_or(now);
        state.due = state.due.max(earliest) + self.takes(bytes);
    }

    fn takes(&self, bytes: u64) -> Duration {
        match self.limits.rate_bps {
            0 => Duration::ZERO,
            rate_bps => Duration::from_secs_f64(bytes as f64 * 8.0 / rate_bps as f64),
        }
    }

    /// Return when more may move; None: now.
    pub fn wait_until(&self, now: Instant) -> Option<Instant> {
        if self.limits.rate_bps == 0 {
            return None;
        }
        let due = self.state().due;
        (due > now).then_some(due)
    }

    /// Return the bytes to move at once, so that the allowed rate comes without long bursts.
    pub fn most_at_once(&self) -> u64 {
        match self.limits.rate_bps {
            0 => u64::MAX,
            rate_bps => (rate_bps / 800).max(4096),
        }
    }
}

#[cfg(test)]
mod tests;
