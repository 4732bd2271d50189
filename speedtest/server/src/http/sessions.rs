// SPDX-License-Identifier: Apache-2.0
//! What one client moves over HTTP without a longer rest counts as one test, and has a test's limits.
//!
//! A test over HTTP is many requests on several connections, and nothing says which is the last one.
//! So the first body takes the right to run a test, and a rest of [`REST`] gives it back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clients::ClientKey;
use crate::config::Limits;

/// A client that moves nothing for so long has ended its test.
const REST: Duration = Duration::from_secs(5);
/// And a test that has not ended begins its next body within this.
const BREATH: Duration = Duration::from_secs(1);
/// When to ask again after a refusal: a test in the way has then ended, or still runs.
pub const RETRY_AFTER_S: u64 = 6;

/// A loop that comes late to a body may make up for so much.
const CATCH_UP: Duration = Duration::from_millis(100);

/// Something that lasts as long as the test, such as its place among those that run.
pub type Place = Box<dyn Send>;

/// Why nothing may be moved now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// As many tests run as may run.
    Full,
    /// This client has had its bytes or its time, and has not rested since.
    Spent,
}

impl Refusal {
    pub fn status(self) -> &'static str {
        match self {
            Refusal::Full => "503 Service Unavailable",
            Refusal::Spent => "429 Too Many Requests",
        }
    }
}

/// The tests over HTTP that run, by client.
#[derive(Default)]
pub struct Sessions {
    by_client: Mutex<HashMap<ClientKey, Session>>,
}

struct Session {
    account: Arc<Account>,
    bodies: usize,
    active: Instant,
    _place: Place,
}

/// What all bodies of one test have moved, on whatever connection.
struct Account {
    started: Instant,
    bytes: AtomicU64,
    /// When the next byte may move at the rate that is allowed.
    due: Mutex<Instant>,
    limits: Limits,
}

/// The right of one body to move, as part of its client's test.
pub struct Pass {
    sessions: Arc<Sessions>,
    client: ClientKey,
    account: Arc<Account>,
}

impl Sessions {
    fn locked(&self) -> MutexGuard<'_, HashMap<ClientKey, Session>> {
        self.by_client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets one more body move. `admit` gives a new test its place, if there is one.
    pub fn enter(
        self: &Arc<Sessions>,
        client: ClientKey,
        now: Instant,
        limits: &Limits,
        admit: impl FnOnce() -> Option<Place>,
    ) -> Result<Pass, Refusal> {
        let mut by_client = self.locked();
        let account = match by_client.get_mut(&client) {
            Some(session) if session.account.is_spent(now) => return Err(Refusal::Spent),
            Some(session) => {
                session.bodies += 1;
                Arc::clone(&session.account)
            }
            None => {
                let place = admit().ok_or(Refusal::Full)?;
                let account = Arc::new(Account {
                    started: now,
                    bytes: AtomicU64::new(0),
                    due: Mutex::new(now),
                    limits: limits.clone(),
                });
                let kept = Arc::clone(&account);
                let session = Session { account: kept, bodies: 1, active: now, _place: place };
                by_client.insert(client, session);
                account
            }
        };
        Ok(Pass { sessions: Arc::clone(self), client, account })
    }

    /// Ends the tests whose clients rest.
    pub fn sweep(&self, now: Instant) {
        let mut by_client = self.locked();
        let rests = |session: &Session| {
            session.bodies == 0 && now.saturating_duration_since(session.active) >= REST
        };
        let rested: Vec<ClientKey> =
            by_client.iter().filter(|(_, session)| rests(session)).map(|(key, _)| *key).collect();
        let ended: Vec<Session> =
            rested.iter().filter_map(|client| by_client.remove(client)).collect();
        // A place that becomes free may let somebody in, which is not to happen under the lock.
        drop(by_client);
        drop(ended);
    }

    /// Does this client's test still run? A page asks for its next body soon after the last.
    pub fn runs(&self, client: ClientKey, now: Instant) -> bool {
        self.locked().get(&client).is_some_and(|session| session.runs(now))
    }

    /// Does any client's?
    pub fn any_runs(&self, now: Instant) -> bool {
        self.locked().values().any(|session| session.runs(now))
    }
}

impl Session {
    fn runs(&self, now: Instant) -> bool {
        self.bodies > 0 || now.saturating_duration_since(self.active) < BREATH
    }
}

impl Account {
    fn is_spent(&self, now: Instant) -> bool {
        let bytes = self.limits.bytes;
        (bytes > 0 && self.bytes.load(Ordering::Relaxed) >= bytes)
            || now.saturating_duration_since(self.started)
                >= Duration::from_secs(self.limits.duration_s)
    }
}

impl Pass {
    /// Counts what has moved.
    pub fn moved(&self, bytes: u64, now: Instant) {
        self.account.bytes.fetch_add(bytes, Ordering::Relaxed);
        let rate_bps = self.account.limits.rate_bps;
        if rate_bps > 0 {
            let takes = Duration::from_secs_f64(bytes as f64 * 8.0 / rate_bps as f64);
            let mut due = self.account.due.lock().unwrap_or_else(PoisonError::into_inner);
            let earliest = now.checked_sub(CATCH_UP).unwrap_or(now);
            *due = (*due).max(earliest) + takes;
        }
    }

    /// The time to wait for before more may move; none: now.
    pub fn wait_until(&self, now: Instant) -> Option<Instant> {
        if self.account.limits.rate_bps == 0 {
            return None;
        }
        let due = *self.account.due.lock().unwrap_or_else(PoisonError::into_inner);
        (due > now).then_some(due)
    }

    /// This test has had all that it may have.
    pub fn is_spent(&self, now: Instant) -> bool {
        self.account.is_spent(now)
    }

    /// Bytes to move at once, so that the allowed rate does not come in long bursts.
    pub fn most_at_once(&self) -> u64 {
        match self.account.limits.rate_bps {
            0 => u64::MAX,
            rate_bps => (rate_bps / 800).max(4096),
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.locked().get_mut(&self.client) {
            session.bodies -= 1;
            session.active = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    fn client(last: u8) -> ClientKey {
        ClientKey::of(IpAddr::from([10, 0, 0, last]))
    }

    fn place() -> Option<Place> {
        Some(Box::new(()))
    }

    #[test]
    fn the_bodies_of_a_client_share_one_place_until_it_rests() {
        let (sessions, now, limits) = (Arc::default(), Instant::now(), Limits::default());
        let first = Sessions::enter(&sessions, client(1), now, &limits, place);
        // No further place is asked for.
        let second = Sessions::enter(&sessions, client(1), now, &limits, || None);
        assert!(first.is_ok() && second.is_ok());
        let other = Sessions::enter(&sessions, client(2), now, &limits, || None);
        assert_eq!(other.err(), Some(Refusal::Full));
        drop(first);
        sessions.sweep(now + REST * 2);
        assert!(sessions.runs(client(1), now + REST * 2) && !sessions.runs(client(2), now));
        drop(second);
        assert!(sessions.any_runs(now) && !sessions.any_runs(Instant::now() + BREATH));
        sessions.sweep(now);
        assert!(Sessions::enter(&sessions, client(1), now, &limits, || None).is_ok());
        sessions.sweep(Instant::now() + REST);
        let again = Sessions::enter(&sessions, client(1), now, &limits, || None);
        assert_eq!(again.err(), Some(Refusal::Full));
    }

    #[test]
    fn bytes_and_time_are_those_of_all_bodies_together() {
        let (sessions, now) = (Arc::default(), Instant::now());
        let limits = Limits { bytes: 1000, duration_s: 10, ..Limits::default() };
        let enter = |at| Sessions::enter(&sessions, client(1), at, &limits, place);
        let (one, two) = (enter(now).ok().unwrap(), enter(now).ok().unwrap());
        one.moved(600, now);
        assert!(!two.is_spent(now));
        two.moved(400, now);
        assert!(one.is_spent(now) && enter(now).err() == Some(Refusal::Spent));
        drop((one, two));
        sessions.sweep(Instant::now() + REST);
        let fresh = enter(now).ok().unwrap();
        assert!(!fresh.is_spent(now) && fresh.is_spent(now + Duration::from_secs(10)));
    }

    #[test]
    fn the_rate_is_that_of_all_bodies_together_and_idle_time_is_not_saved_up() {
        let (sessions, now) = (Arc::default(), Instant::now());
        let limits = Limits { rate_bps: 8_000_000, ..Limits::default() };
        let enter = || Sessions::enter(&sessions, client(1), now, &limits, place);
        let (one, two) = (enter().ok().unwrap(), enter().ok().unwrap());
        assert_eq!(one.wait_until(now), None);
        one.moved(500_000, now);
        two.moved(500_000, now);
        assert_eq!(two.wait_until(now), Some(now + Duration::from_secs(1)));
        let later = now + Duration::from_secs(60);
        one.moved(1_000_000, later);
        assert_eq!(one.wait_until(later), Some(later + Duration::from_secs(1) - CATCH_UP));
    }
}
