// SPDX-License-Identifier: Apache-2.0
//! One look at TCP_INFO.

use std::os::fd::RawFd;
use std::time::Duration;

use speedtest_proto::series::Sample;

use crate::sys;

/// What the kernel says of a TCP socket `at` this time of a transfer that has moved `bytes`.
pub fn look(fd: RawFd, at: Duration, bytes: u64) -> Option<Sample> {
    let info = sys::tcp_info(fd).ok()?;
    Some(Sample {
        at_us: u64::try_from(at.as_micros()).unwrap_or(u64::MAX),
        bytes,
        rtt_us: info.rtt,
        min_rtt_us: if info.min_rtt == u32::MAX { 0 } else { info.min_rtt },
        rcv_rtt_us: info.rcv_rtt,
        cwnd_bytes: u64::from(info.snd_cwnd) * u64::from(info.snd_mss),
        snd_wnd_bytes: info.snd_wnd,
        rcv_wnd_bytes: if info.rcv_wnd > 0 { info.rcv_wnd } else { info.rcv_space },
        delivery_rate_bps: info.delivery_rate.saturating_mul(8),
        retransmits: info.total_retrans,
        segments_out: info.data_segs_out,
        segments_in: info.data_segs_in,
        out_of_order: info.rcv_ooopack,
        busy_us: info.busy_time,
        rwnd_limited_us: info.rwnd_limited,
        sndbuf_limited_us: info.sndbuf_limited,
    })
}
