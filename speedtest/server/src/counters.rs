// SPDX-License-Identifier: Apache-2.0
//! Counters of the server since it started.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct Counters {
    pub connections_accepted: AtomicU64,
    pub connections_refused: AtomicU64,
    pub handshakes_failed: AtomicU64,
    /// Connections ended because of overhead frames.
    pub http2_floods: AtomicU64,
    /// Bodies over HTTP that were refused, and that a limit ended.
    pub bodies_refused: AtomicU64,
    pub bodies_cut: AtomicU64,
    pub tests_finished: AtomicU64,
    pub tests_failed: AtomicU64,
    pub tests_refused: AtomicU64,
    /// Test data in bytes, counted as it moves; streams share the counters.
    pub bytes_received: Arc<AtomicU64>,
    pub bytes_sent: Arc<AtomicU64>,
    /// Bytes of bodies that were refused and came anyway.
    pub bytes_refused: AtomicU64,
    pub results_kept: AtomicU64,
    pub results_unwritten: AtomicU64,
    /// Current size of the results file and the spool, in bytes.
    pub results_bytes: AtomicU64,
    pub results_spool_bytes: AtomicU64,
    /// Results in the spool now.
    pub results_spooled: AtomicU64,
}

impl Counters {
    pub fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}
