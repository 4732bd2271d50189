// SPDX-License-Identifier: Apache-2.0
//! Other load of the server during a test, and whether it limited the test.

use serde::{Deserialize, Serialize};

use super::{Evidence, CORE_FULL};

/// Share of CPU or link below which others cannot have cost a test much.
const OTHERS_SHARE: f64 = 0.2;
/// Share of the configured link capacity from which the link is the limit.
const LINK_FULL: f64 = 0.85;

/// Other tests and clients of the same server during one test.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherLoad {
    /// Tests that ran at some time during this one.
    pub tests: u64,
    /// Clients connected at some time; one that left and came back counts again.
    pub clients: u64,
    /// Shares of time that the test's busiest loop spent on this test, and on everything else.
    pub own_loop_share: f64,
    pub loop_share: f64,
    /// Share of time that all loops spent on everything else.
    pub process_share: f64,
    /// Test data of the others, in bytes, and its share of all test data.
    pub bytes: u64,
    pub bytes_share: f64,
    /// Delay between the kernel's report of a ready socket and the call of its handler, in that
    /// loop: the mean, and the longest as the next power of two.
    pub delay_mean_us: f64,
    pub delay_max_us: f64,
    pub refused: RefusedLoad,
}

/// Bodies that the server refused meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RefusedLoad {
    pub connections: u64,
    pub tests: u64,
    /// Bodies over HTTP that were refused at their start, and their bytes that came anyway.
    pub bodies: u64,
    pub bytes: u64,
}

impl OtherLoad {
    /// Describe a loop that was always busy, a good part of the time with others.
    pub(super) fn filled_loop(&self, evidence: &Evidence) -> Option<String> {
        let full =
            evidence.server_load.full() || self.own_loop_share + self.loop_share >= CORE_FULL;
        (full && self.loop_share >= OTHERS_SHARE).then(|| {
            format!(
                "the server's loop was full: it spent {:.0} % of the time on this test and {:.0} % on \
                 others ({} tests, {} clients)",
                self.own_loop_share * 100.0,
                self.loop_share * 100.0,
                self.tests,
                self.clients
            )
        })
    }

    /// Describe a link that was full, a good part of it with others.
    pub(super) fn filled_link(&self, evidence: &Evidence) -> Option<String> {
        let link_bps = evidence.link_bps?;
        let share = self.bytes_share.min(0.999);
        let all_bps = evidence.rate_bps / (1.0 - share);
        (all_bps >= link_bps * LINK_FULL && share >= OTHERS_SHARE).then(|| {
            format!(
                "the server moved {:.1} Mbit/s of the {:.1} Mbit/s that its link carries, {:.0} % of it \
                 for others ({} tests, {} clients)",
                all_bps / 1e6,
                link_bps / 1e6,
                share * 100.0,
                self.tests,
                self.clients
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{judge, Limiter, Load};
    use super::*;
    use crate::series::Summary;

    /// Return evidence of 1 Gbit/s through a loop that others fill, without another limit.
    fn disturbed(server_sends: bool) -> Evidence {
        let stream = Summary {
            wall_us: 10e6,
            busy_us: 9.9e6,
            mean_rtt_us: 100.0,
            min_rtt_us: 80.0,
            segments_out: 863_000,
            segments_in: 863_000,
            mean_snd_wnd_bytes: 3e6,
            max_snd_wnd_bytes: 3e6,
            max_rcv_wnd_bytes: 60e6,
            mean_move_bytes: 1e6,
            ..Summary::default()
        };
        let other_load = OtherLoad {
            tests: 8,
            clients: 1,
            own_loop_share: 0.1,
            loop_share: 0.85,
            bytes: 10_000_000_000,
            bytes_share: 0.9,
            ..OtherLoad::default()
        };
        Evidence {
            server_sends,
            rate_bps: 1e9,
            bytes: 1_250_000_000,
            other_load,
            streams: vec![stream],
            ..Evidence::default()
        }
    }

    fn with(evidence: &Evidence, change: impl Fn(&mut Summary)) -> Evidence {
        let mut changed = evidence.clone();
        changed.streams.iter_mut().for_each(change);
        changed
    }

    #[test]
    fn a_loop_that_others_filled_is_no_path_and_no_client() {
        for sends in [true, false] {
            let verdict = judge(&disturbed(sends));
            assert_eq!(verdict.limited_by, Limiter::Shared, "{verdict:?}");
            assert!(verdict.because[0].contains("85 % on others (8 tests"), "{verdict:?}");
            let others = OtherLoad { loop_share: 0.19, ..disturbed(sends).other_load };
            let load = Load { running: 0.9, waiting: 0.1 };
            let own = Evidence { other_load: others, server_load: load, ..disturbed(sends) };
            assert_eq!(judge(&own).limited_by, Limiter::ServerCpu);
            let free = OtherLoad { own_loop_share: 0.1, loop_share: 0.74, ..others };
            let free = Evidence { other_load: free, ..disturbed(sends) };
            assert_ne!(judge(&free).limited_by, Limiter::Shared);
        }
    }

    #[test]
    fn causes_seen_by_the_kernel_outrank_a_full_loop() {
        for sends in [true, false] {
            let lossy = |unsent_share, mean_move_bytes| {
                with(&disturbed(sends), |stream| {
                    (stream.retransmits, stream.out_of_order) = (5000, 5000);
                    (stream.unsent_share, stream.mean_move_bytes) = (unsent_share, mean_move_bytes);
                })
            };
            assert_eq!(judge(&lossy(0.9, 1e6)).limited_by, Limiter::Path);
            assert_eq!(judge(&lossy(0.1, 7e6)).limited_by, Limiter::Shared, "too late for both");
        }
        let windowed = with(&disturbed(true), |stream| stream.rwnd_limited_us = 9e6);
        assert_eq!(judge(&windowed).limited_by, Limiter::ReceiveWindow);
        let queue = |unsent_share| {
            with(&disturbed(true), |stream| {
                (stream.min_rtt_us, stream.mean_rtt_us) = (10e3, 40e3);
                stream.unsent_share = unsent_share;
            })
        };
        assert_eq!(judge(&queue(0.9)).limited_by, Limiter::Path);
        assert_eq!(judge(&queue(0.1)).limited_by, Limiter::Shared, "the loop was too late");
        let dry = with(&queue(0.9), |stream| stream.busy_us = 6.3e6);
        assert_eq!(judge(&dry).limited_by, Limiter::Shared, "nothing was in flight");
        let trickle = with(&disturbed(false), |stream| stream.mean_move_bytes = 3000.0);
        assert_eq!(judge(&trickle).limited_by, Limiter::Client, "all was read in time");
    }

    #[test]
    fn a_link_is_shared_when_it_is_full_and_others_have_a_fifth_of_it() {
        let idle = OtherLoad { bytes_share: 0.5, ..OtherLoad::default() };
        let limiter = |link_bps, other_load| {
            judge(&Evidence { link_bps, other_load, ..disturbed(false) }).limited_by
        };
        assert_eq!(limiter(Some(2.3e9), idle), Limiter::Shared);
        assert_eq!(limiter(Some(2.4e9), idle), Limiter::Client);
        assert_eq!(limiter(None, idle), Limiter::Client);
        let few = OtherLoad { bytes_share: 0.19, ..idle };
        assert_eq!(limiter(Some(1e9), few), Limiter::Client);
    }
}
