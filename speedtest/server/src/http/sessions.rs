// SPDX-License-Identifier: Apache-2.0
//! Tests over HTTP: the bodies of one client without a longer pause, with a test's limits.
//!
//! A test over HTTP is many requests on several connections, and nothing marks the last one. So the
//! first body takes the right to run a test, and a pause of [`PAUSE`] releases it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clients::ClientKey;
use crate::config::Limits;

/// Pause after which a client's test has ended.
const PAUSE: Duration = Duration::from_secs(5);
/// Time within which a running test begins its next body.
const BREATH: Duration = Duration::from_secs(1);
/// Seconds after which a client may retry: the other test has then ended, or still runs.
const RETRY_AFTER_S: u64 = 6;

/// Object that is kept as long as the test, such as its ticket.
pub type Place = Box<dyn Send>;

/// Reason why no body may move now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The most tests are running.
    Full,
    /// This client has used its bytes or its time, and has not paused since.
    Spent,
    /// This client has used its bytes for this long.
    Until(Duration),
    /// This client has too much waiting for its rate, or reports too much.
    TooFast,
}

impl Refusal {
    pub fn status(self) -> &'static str {
        match self {
            Refusal::Full => "503 Service Unavailable",
            _ => "429 Too Many Requests",
        }
    }

    /// Return the seconds after which the client may retry.
    pub fn retry_after_s(self) -> u64 {
        match self {
            Refusal::Until(left) => left.as_secs() + 1,
            _ => RETRY_AFTER_S,
        }
    }
}

/// Running tests over HTTP, by client.
#[derive(Default)]
pub struct Sessions {
    by_client: Mutex<HashMap<ClientKey, Session>>,
}

struct Session {
    spending: Arc<Spending>,
    bodies: usize,
    active: Instant,
    _place: Place,
}

/// Bytes of all bodies of one test, on any connection.
struct Spending {
    started: Instant,
    bytes: AtomicU64,
    limits: Limits,
}

/// Right of one body to move, as part of its client's test.
pub struct Pass {
    sessions: Arc<Sessions>,
    client: ClientKey,
    spending: Arc<Spending>,
}

impl Sessions {
    fn locked(&self) -> MutexGuard<'_, HashMap<ClientKey, Session>> {
        self.by_client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Let one more body move. `admit` gives a new test its place, if there is one.
    pub fn enter(
        self: &Arc<Sessions>,
        client: ClientKey,
        now: Instant,
        limits: &Limits,
        admit: impl FnOnce() -> Option<Place>,
    ) -> Result<Pass, Refusal> {
        let mut by_client = self.locked();
        let spending = match by_client.get_mut(&client) {
            Some(session) if session.spending.is_spent(now) => return Err(Refusal::Spent),
            Some(session) => {
                session.bodies += 1;
                Arc::clone(&session.spending)
            }
            None => {
                let place = admit().ok_or(Refusal::Full)?;
                let spending = Arc::new(Spending {
                    started: now,
                    bytes: AtomicU64::new(0),
                    limits: limits.clone(),
                });
                let kept = Arc::clone(&spending);
                let session = Session { spending: kept, bodies: 1, active: now, _place: place };
                by_client.insert(client, session);
                spending
            }
        };
        Ok(Pass { sessions: Arc::clone(self), client, spending })
    }

    /// End the tests whose clients pause.
    pub fn sweep(&self, now: Instant) {
        let mut by_client = self.locked();
        let rests = |session: &Session| {
            session.bodies == 0 && now.saturating_duration_since(session.active) >= PAUSE
        };
        let rested: Vec<ClientKey> =
            by_client.iter().filter(|(_, session)| rests(session)).map(|(key, _)| *key).collect();
        let ended: Vec<Session> =
            rested.iter().filter_map(|client| by_client.remove(client)).collect();
        // A free place may admit another test, which must not happen under the lock.
        drop(by_client);
        drop(ended);
    }

    /// Return whether this client's test still runs. A page requests its next body soon after the
    /// last.
    pub fn runs(&self, client: ClientKey, now: Instant) -> bool {
        self.locked().get(&client).is_some_and(|session| session.runs(now))
    }

    /// Return whether any client's test still runs.
    pub fn any_runs(&self, now: Instant) -> bool {
        self.locked().values().any(|session| session.runs(now))
    }
}

impl Session {
    fn runs(&self, now: Instant) -> bool {
        self.bodies > 0 || now.saturating_duration_since(self.active) < BREATH
    }
}

impl Spending {
    fn is_spent(&self, now: Instant) -> bool {
        let bytes = self.limits.bytes;
        (bytes > 0 && self.bytes.load(Ordering::Relaxed) >= bytes)
            || now.saturating_duration_since(self.started)
                >= Duration::from_secs(self.limits.duration_s)
    }
}

impl Pass {
    /// Count moved bytes.
    pub fn moved(&self, bytes: u64) {
        self.spending.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Return whether this test has used its limits.
    pub fn is_spent(&self, now: Instant) -> bool {
        self.spending.is_spent(now)
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
    use crate::config::Prefixes;
    use std::net::IpAddr;

    fn client(last: u8) -> ClientKey {
        ClientKey::of(IpAddr::from([10, 0, 0, last]), &Prefixes::default())
    }

    fn place() -> Option<Place> {
        Some(Box::new(()))
    }

    #[test]
    fn the_bodies_of_a_client_share_one_place_until_it_rests() {
        let (sessions, now, limits) = (Arc::default(), Instant::now(), Limits::default());
        let first = Sessions::enter(&sessions, client(1), now, &limits, place);
        // No further place is requested.
        let second = Sessions::enter(&sessions, client(1), now, &limits, || None);
        assert!(first.is_ok() && second.is_ok());
        let other = Sessions::enter(&sessions, client(2), now, &limits, || None);
        assert_eq!(other.err(), Some(Refusal::Full));
        drop(first);
        sessions.sweep(now + PAUSE * 2);
        assert!(sessions.runs(client(1), now + PAUSE * 2) && !sessions.runs(client(2), now));
        drop(second);
        assert!(sessions.any_runs(now) && !sessions.any_runs(Instant::now() + BREATH));
        sessions.sweep(now);
        assert!(Sessions::enter(&sessions, client(1), now, &limits, || None).is_ok());
        sessions.sweep(Instant::now() + PAUSE);
        let again = Sessions::enter(&sessions, client(1), now, &limits, || None);
        assert_eq!(again.err(), Some(Refusal::Full));
    }

    #[test]
    fn bytes_and_time_are_those_of_all_bodies_together() {
        let (sessions, now) = (Arc::default(), Instant::now());
        let limits = Limits { bytes: 1000, duration_s: 10, ..Limits::default() };
        let enter = |at| Sessions::enter(&sessions, client(1), at, &limits, place);
        let (one, two) = (enter(now).ok().unwrap(), enter(now).ok().unwrap());
        one.moved(600);
        assert!(!two.is_spent(now));
        two.moved(400);
        assert!(one.is_spent(now) && enter(now).err() == Some(Refusal::Spent));
        drop((one, two));
        sessions.sweep(Instant::now() + PAUSE);
        let fresh = enter(now).ok().unwrap();
        assert!(!fresh.is_spent(now) && fresh.is_spent(now + Duration::from_secs(10)));
    }
}
