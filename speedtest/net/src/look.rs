// SPDX-License-Identifier: Apache-2.0
//! One sample of TCP_INFO, for the verdict or for an ndt7 client.

use std::os::fd::RawFd;
use std::time::Duration;

use speedtest_proto::ndt7::measurement::{BbrInfo, TcpInfo};
use speedtest_proto::series::Sample;

use crate::sys;

/// Return whether the peer's kernel has received everything written to this socket. A closed socket
/// has nothing pending.
pub fn is_delivered(fd: RawFd) -> bool {
    sys::tcp_info(fd).map_or(true, |info| info.unacked == 0 && info.notsent_bytes == 0)
}

/// Sample TCP_INFO of a socket `at` this time of a transfer that has moved `bytes`.
pub fn look(fd: RawFd, at: Duration, bytes: u64) -> Option<Sample> {
    let info = sys::tcp_info(fd).ok()?;
    let (rcvbuf_bytes, sndbuf_bytes) = sys::buffer_limits(fd).unwrap_or_default();
    Some(Sample {
        at_us: micros(at),
        bytes,
        rtt_us: info.rtt,
        min_rtt_us: if info.min_rtt == u32::MAX { 0 } else { info.min_rtt },
        rcv_rtt_us: info.rcv_rtt,
        cwnd_bytes: u64::from(info.snd_cwnd) * u64::from(info.snd_mss),
        snd_wnd_bytes: info.snd_wnd,
        rcv_wnd_bytes: if info.rcv_wnd > 0 { info.rcv_wnd } else { info.rcv_space },
        rcvbuf_bytes,
        sndbuf_bytes,
        notsent_bytes: info.notsent_bytes,
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

/// Sample TCP_INFO for an ndt7 client.
pub fn look_for_ndt7(fd: RawFd, at: Duration) -> Option<TcpInfo> {
    let info = sys::tcp_info(fd).ok()?;
    Some(TcpInfo {
        elapsed_time: micros(at),
        busy_time: info.busy_time,
        rwnd_limited: info.rwnd_limited,
        snd_buf_limited: info.sndbuf_limited,
        bytes_acked: info.bytes_acked,
        bytes_received: info.bytes_received,
        bytes_sent: info.bytes_sent,
        bytes_retrans: info.bytes_retrans,
        min_rtt: info.min_rtt,
        rtt: info.rtt,
        rtt_var: info.rttvar,
        rcv_rtt: info.rcv_rtt,
        rcv_space: info.rcv_space,
        snd_cwnd: info.snd_cwnd,
        snd_mss: info.snd_mss,
        total_retrans: info.total_retrans,
        segs_in: info.segs_in,
        segs_out: info.segs_out,
        data_segs_in: info.data_segs_in,
        data_segs_out: info.data_segs_out,
        delivery_rate: info.delivery_rate,
        pacing_rate: info.pacing_rate,
        notsent_bytes: info.notsent_bytes,
        unacked: info.unacked,
        lost: info.lost,
        reord_seen: info.reord_seen,
    })
}

/// Return BBR's estimates; None with another congestion control.
pub fn look_at_bbr(fd: RawFd, at: Duration) -> Option<BbrInfo> {
    let info = sys::bbr_info(fd)?;
    Some(BbrInfo {
        elapsed_time: micros(at),
        bandwidth: u64::from(info.bandwidth_high) << 32 | u64::from(info.bandwidth_low),
        min_rtt: info.min_rtt_us,
        pacing_gain: info.pacing_gain,
        cwnd_gain: info.cwnd_gain,
    })
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
