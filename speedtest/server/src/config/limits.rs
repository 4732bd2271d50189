// SPDX-License-Identifier: Apache-2.0
//! What clients may take.

use std::time::Duration;

use serde::Deserialize;

use super::{range, ConfigError};

/// Which part of an address tells one client from another, in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefixes {
    pub v4: u8,
    pub v6: u8,
}

impl Default for Prefixes {
    fn default() -> Prefixes {
        Prefixes { v4: 32, v6: 64 }
    }
}

/// What clients may take. 0 is no limit, except where a range is given. The defaults for one client leave
/// room for the 64 subscribers that a carrier typically puts behind an address.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// A client is an IPv4 network of this length, and an IPv6 network of that length.
    pub prefix_v4: u8,
    pub prefix_v6: u8,
    pub connections: usize,
    pub connections_per_client: usize,
    /// Connections of one client that have not said what they want.
    pub pending_per_client: usize,
    /// Seconds until they must have said it.
    pub pending_s: u64,
    /// Tests that run at a time; others wait in the queue.
    pub tests: usize,
    pub tests_per_client: usize,
    /// Tests that wait for their turn; beyond that a client is refused.
    pub queue: usize,
    pub queue_per_client: usize,
    pub queue_wait_s: u64,
    /// Bits per second of one test, all its streams together.
    pub rate_bps: u64,
    pub bytes: u64,
    /// Bytes of one client in `window_s` seconds, in all its tests.
    pub client_bytes: u64,
    pub window_s: u64,
    pub duration_s: u64,
    /// Seconds for each step in which the client must answer.
    pub step_s: u64,
    /// Seconds without a byte after which a test ends.
    pub idle_s: u64,
    /// Results that pages and LibreSpeed clients may send in a minute: one client, and all.
    pub results_per_client: u64,
    pub results: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            prefix_v4: Prefixes::default().v4,
            prefix_v6: Prefixes::default().v6,
            connections: 0,
            connections_per_client: 1024,
            pending_per_client: 256,
            pending_s: 5,
            tests: 0,
            tests_per_client: 64,
            queue: 64,
            queue_per_client: 32,
            queue_wait_s: 60,
            rate_bps: 0,
            bytes: 0,
            client_bytes: 50_000_000_000_000,
            window_s: 3600,
            duration_s: 3600,
            step_s: 10,
            idle_s: 5,
            results_per_client: 64,
            results: 1024,
        }
    }
}

/// Least rate in bit/s: one packet per second. Below it nothing would ever move.
const LEAST_RATE_BPS: u64 = 8 * 1500;

impl Limits {
    pub fn prefixes(&self) -> Prefixes {
        Prefixes { v4: self.prefix_v4, v6: self.prefix_v6 }
    }

    pub fn step(&self) -> Duration {
        Duration::from_secs(self.step_s)
    }

    /// Return the limit for a connection that has not sent a request.
    pub fn pending(&self) -> Duration {
        Duration::from_secs(self.pending_s.min(self.step_s))
    }

    pub fn idle(&self) -> Duration {
        Duration::from_secs(self.idle_s)
    }

    pub fn window(&self) -> Duration {
        Duration::from_secs(self.window_s)
    }

    /// Return the setting that allows a client only one connection.
    pub(super) fn single_connection(&self) -> Option<&'static str> {
        match (self.connections, self.connections_per_client) {
            (1, _) => Some("limits.connections"),
            (_, 1) => Some("limits.connections_per_client"),
            _ => None,
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        range::check("limits.prefix_v4", self.prefix_v4.into(), &range::PREFIX_V4)?;
        range::check("limits.prefix_v6", self.prefix_v6.into(), &range::PREFIX_V6)?;
        range::check("limits.step_s", self.step_s, &range::STEP_S)?;
        range::check("limits.idle_s", self.idle_s, &range::STEP_S)?;
        range::check("limits.pending_s", self.pending_s, &range::STEP_S)?;
        range::check("limits.window_s", self.window_s, &range::WINDOW_S)?;
        range::check("limits.duration_s", self.duration_s, &range::DURATION_S)?;
        range::check("limits.queue_wait_s", self.queue_wait_s, &range::QUEUE_WAIT_S)?;
        self.check_parts()?;
        self.check_amounts()
    }

    /// Check that no part exceeds its whole; one of both is a mistake.
    fn check_parts(&self) -> Result<(), ConfigError> {
        let parts = [
            (
                "connections_per_client",
                self.connections_per_client,
                "connections",
                self.connections,
            ),
            (
                "pending_per_client",
                self.pending_per_client,
                "connections_per_client",
                self.connections_per_client,
            ),
            ("tests_per_client", self.tests_per_client, "tests", self.tests),
            ("queue_per_client", self.queue_per_client, "queue", self.queue),
            ("queue", self.queue, "connections", self.connections),
            (
                "results_per_client",
                self.results_per_client as usize,
                "results",
                self.results as usize,
            ),
        ];
        // A default that a smaller whole makes ineffective is not the operator's mistake.
        let written = Limits::default();
        let untouched = [
            self.connections_per_client == written.connections_per_client,
            self.pending_per_client == written.pending_per_client,
            self.tests_per_client == written.tests_per_client,
            self.queue_per_client == written.queue_per_client,
            self.queue == written.queue,
            self.results_per_client == written.results_per_client,
        ];
        for ((part, has, whole, most), default) in parts.into_iter().zip(untouched) {
            if !default && most > 0 && has > most {
                let fault = format!(
                    "{has} is more than limits.{whole}, {most}, so it never applies; \
                     lower it or raise limits.{whole}"
                );
                return Err(ConfigError { place: format!("limits.{part}"), fault });
            }
        }
        Ok(())
    }

    /// Check for amounts with which no test could succeed.
    fn check_amounts(&self) -> Result<(), ConfigError> {
        let fault = |place: &str, fault: String| {
            Err(ConfigError { place: format!("limits.{place}"), fault })
        };
        if (1..LEAST_RATE_BPS).contains(&self.rate_bps) {
            return fault(
                "rate_bps",
                format!(
                    "{} is less than a packet of 1500 bytes a second; set {LEAST_RATE_BPS} or more, \
                     or 0 for no limit",
                    self.rate_bps
                ),
            );
        }
        if self.client_bytes > 0 && self.bytes > self.client_bytes {
            return fault(
                "bytes",
                format!(
                    "one test may move {}, and a client in all its tests only client_bytes, {}; \
                     lower it or raise limits.client_bytes",
                    self.bytes, self.client_bytes
                ),
            );
        }
        Ok(())
    }
}
