// SPDX-License-Identifier: Apache-2.0
//! Socket options that neither socket2 nor rustix has, and the kernel's figures of a connection.

use std::io;
use std::os::fd::RawFd;

use super::check;

/// Set an integer socket option.
#[expect(unsafe_code, reason = "rustix has only options that it knows")]
pub fn set_option(
    fd: RawFd,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: pointer and length describe `value`, which outlives the call.
    check(unsafe {
        libc::setsockopt(
            fd,
            level,
            name,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    })
    .map(drop)
}

/// Linux's struct tcp_info as of 6.x; an older kernel fills less of it and the rest stays 0.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct TcpInfo {
    pub state: u8,
    pub ca_state: u8,
    pub retransmits: u8,
    pub probes: u8,
    pub backoff: u8,
    pub options: u8,
    pub window_scales: u8,
    pub flags: u8,
    pub rto: u32,
    pub ato: u32,
    pub snd_mss: u32,
    pub rcv_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    pub fackets: u32,
    pub last_data_sent: u32,
    pub last_ack_sent: u32,
    pub last_data_recv: u32,
    pub last_ack_recv: u32,
    pub pmtu: u32,
    pub rcv_ssthresh: u32,
    pub rtt: u32,
    pub rttvar: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub advmss: u32,
    pub reordering: u32,
    pub rcv_rtt: u32,
    pub rcv_space: u32,
    pub total_retrans: u32,
    pub pacing_rate: u64,
    pub max_pacing_rate: u64,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub segs_out: u32,
    pub segs_in: u32,
    pub notsent_bytes: u32,
    pub min_rtt: u32,
    pub data_segs_in: u32,
    pub data_segs_out: u32,
    pub delivery_rate: u64,
    pub busy_time: u64,
    pub rwnd_limited: u64,
    pub sndbuf_limited: u64,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub bytes_sent: u64,
    pub bytes_retrans: u64,
    pub dsack_dups: u32,
    pub reord_seen: u32,
    pub rcv_ooopack: u32,
    pub snd_wnd: u32,
    pub rcv_wnd: u32,
    pub rehash: u32,
}

/// Read a struct that the kernel fills as far as it knows it; return it and the number of bytes
/// filled.
#[expect(unsafe_code, reason = "rustix has only options of its own types")]
fn option<T: Plain>(fd: RawFd, level: libc::c_int, name: libc::c_int) -> io::Result<(T, usize)> {
    let mut value = T::default();
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: pointer and length describe `value`, which may hold any bits.
    check(unsafe { libc::getsockopt(fd, level, name, (&raw mut value).cast(), &mut length) })?;
    Ok((value, length as usize))
}

/// Struct of integers only, so that any bits are a valid value.
trait Plain: Default {}
impl Plain for TcpInfo {}
impl Plain for BbrInfo {}
impl Plain for [u32; 9] {}

pub fn tcp_info(fd: RawFd) -> io::Result<TcpInfo> {
    Ok(option(fd, libc::IPPROTO_TCP, libc::TCP_INFO)?.0)
}

/// Return the bytes in a TCP socket's receive queue.
pub fn unread(fd: RawFd) -> u64 {
    queued(fd, libc::FIONREAD)
}

/// Return the bytes sent that the peer's kernel has not acknowledged.
pub fn unacknowledged(fd: RawFd) -> u64 {
    queued(fd, libc::TIOCOUTQ)
}

#[expect(unsafe_code, reason = "rustix has no TIOCOUTQ")]
fn queued(fd: RawFd, request: libc::Ioctl) -> u64 {
    let mut bytes: libc::c_int = 0;
    // SAFETY: either request writes one int, and `bytes` outlives the call.
    unsafe {
        libc::ioctl(fd, request, &raw mut bytes);
    }
    u64::try_from(bytes).unwrap_or(0)
}

/// BBR's estimates; gains in 256ths.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct BbrInfo {
    pub bandwidth_low: u32,
    pub bandwidth_high: u32,
    pub min_rtt_us: u32,
    pub pacing_gain: u32,
    pub cwnd_gain: u32,
}

/// Return BBR's estimates; None with another congestion control, which reports less or nothing.
pub fn bbr_info(fd: RawFd) -> Option<BbrInfo> {
    let (info, bytes) = option(fd, libc::IPPROTO_TCP, libc::TCP_CC_INFO).ok()?;
    (bytes == size_of::<BbrInfo>()).then_some(info)
}

/// Return the limits of the receive and send buffers as the kernel counts them: half is its own
/// bookkeeping.
pub fn buffer_limits(fd: RawFd) -> io::Result<(u32, u32)> {
    // SK_MEMINFO_RCVBUF and SK_MEMINFO_SNDBUF of linux/sock_diag.h.
    const RECEIVE: usize = 1;
    const SEND: usize = 3;
    let counts = memory(fd)?;
    Ok((counts[RECEIVE], counts[SEND]))
}

/// Return the memory of what is in the receive queue, with the kernel's bookkeeping, in bytes. A
/// datagram counts from just before it can be read; what was read may count for some time longer.
pub fn received_memory(fd: RawFd) -> io::Result<u32> {
    // SK_MEMINFO_RMEM_ALLOC.
    const RECEIVED: usize = 0;
    Ok(memory(fd)?[RECEIVED])
}

fn memory(fd: RawFd) -> io::Result<[u32; 9]> {
    Ok(option(fd, libc::SOL_SOCKET, libc::SO_MEMINFO)?.0)
}
