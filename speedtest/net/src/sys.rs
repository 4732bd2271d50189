// SPDX-License-Identifier: Apache-2.0
//! The system calls that std and socket2 do not offer, each behind a safe function.
#![allow(unsafe_code)]

mod signals;

use std::io;
use std::mem::{size_of, zeroed, MaybeUninit};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

pub use signals::{block_signals, wait_signal, Signal};

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

fn check_size(result: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// One epoll instance.
pub struct Epoll(OwnedFd);

/// One readiness report; `events` has the EPOLL* bits.
#[derive(Debug, Clone, Copy)]
pub struct Readiness {
    pub events: u32,
    pub token: u64,
}

impl Epoll {
    pub fn new() -> io::Result<Epoll> {
        // SAFETY: the call takes no pointers; the new descriptor is owned by nobody else.
        unsafe {
            let fd = check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
            Ok(Epoll(OwnedFd::from_raw_fd(fd)))
        }
    }

    fn control(
        &self,
        operation: libc::c_int,
        fd: RawFd,
        events: u32,
        token: u64,
    ) -> io::Result<()> {
        let mut event = libc::epoll_event { events, u64: token };
        // SAFETY: `event` outlives the call.
        check(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd, &mut event) }).map(drop)
    }

    pub fn add(&self, fd: RawFd, events: u32, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, events, token)
    }

    pub fn modify(&self, fd: RawFd, events: u32, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, events, token)
    }

    pub fn remove(&self, fd: RawFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, 0)
    }

    /// Waits until something is ready or `timeout` has passed; none waits for ever.
    pub fn wait(&self, ready: &mut Vec<Readiness>, timeout: Option<Duration>) -> io::Result<()> {
        const MOST: usize = 256;
        ready.clear();
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; MOST];
        let wait_ms = timeout
            .map_or(-1, |wait| i32::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(i32::MAX));
        // SAFETY: the buffer holds MOST events and outlives the call.
        let result = check(unsafe {
            libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), MOST as libc::c_int, wait_ms)
        });
        let count = match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            other => other?,
        };
        let happened = events.iter().take(usize::try_from(count).unwrap_or(0));
        ready.extend(happened.map(|event| Readiness { events: event.events, token: event.u64 }));
        Ok(())
    }
}

/// A counter that wakes a loop.
pub fn eventfd() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers; the new descriptor is owned by nobody else.
    unsafe {
        let fd = check(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Wakes the loop behind an eventfd. A full counter already does.
pub fn signal_eventfd(fd: RawFd) {
    let one = 1_u64;
    // SAFETY: an eventfd takes the 8 bytes of a counter, and `one` outlives the call.
    unsafe {
        libc::write(fd, (&raw const one).cast(), size_of::<u64>());
    }
}

/// Sets an eventfd's counter back to 0.
pub fn clear_eventfd(fd: RawFd) {
    let mut count = 0_u64;
    // SAFETY: an eventfd gives the 8 bytes of a counter, and `count` outlives the call.
    unsafe {
        libc::read(fd, (&raw mut count).cast(), size_of::<u64>());
    }
}

/// Writes; never raises SIGPIPE and never blocks.
pub fn send(fd: RawFd, bytes: &[u8], zero_copy: bool) -> io::Result<usize> {
    let zero_copy = if zero_copy { libc::MSG_ZEROCOPY } else { 0 };
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | zero_copy;
    // SAFETY: pointer and length describe `bytes`. With MSG_ZEROCOPY the kernel reads the pages
    // after the call; the callers pass only the hot buffer, which is never written or freed.
    check_size(unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), flags) })
}

/// Writes several parts as one; never raises SIGPIPE and never blocks.
pub fn send_parts(fd: RawFd, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
    // SAFETY: an all-zero msghdr is valid; IoSlice has the layout of iovec, and the kernel only reads
    // what the parts describe.
    check_size(unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = parts.as_ptr().cast_mut().cast();
        message.msg_iovlen = parts.len() as _;
        libc::sendmsg(fd, &message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT)
    })
}

/// Reads; never blocks.
pub fn receive(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: pointer and length describe `buffer`.
    check_size(unsafe {
        libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_DONTWAIT)
    })
}

/// Takes one datagram: copies as much as fits, returns its whole length. Never blocks.
pub fn receive_start(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
    // SAFETY: pointer and length describe `buffer`; a datagram beyond it is cut off, not written.
    check_size(unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), flags) })
}

/// Drops up to `most` bytes of a TCP socket's queue inside the kernel: nothing is copied.
pub fn discard(fd: RawFd, most: usize) -> io::Result<usize> {
    // SAFETY: tcp(7): with MSG_TRUNC on a stream socket the buffer is not touched and may be null.
    check_size(unsafe {
        libc::recv(fd, std::ptr::null_mut(), most, libc::MSG_TRUNC | libc::MSG_DONTWAIT)
    })
}

/// Takes all zero-copy completion notices off a socket's error queue.
pub fn reap_zero_copy(fd: RawFd) {
    loop {
        let mut control = [0_u64; 16];
        // SAFETY: an all-zero msghdr is valid; the control buffer outlives the call.
        let taken = unsafe {
            let mut message: libc::msghdr = zeroed();
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = std::mem::size_of_val(&control) as _;
            libc::recvmsg(fd, &mut message, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT)
        };
        if taken < 0 {
            return;
        }
    }
}

/// Sets an integer socket option.
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

pub fn tcp_info(fd: RawFd) -> io::Result<TcpInfo> {
    let mut info = TcpInfo::default();
    let mut length = size_of::<TcpInfo>() as libc::socklen_t;
    // SAFETY: pointer and length describe `info`, whose fields may hold any bits.
    check(unsafe {
        libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, (&raw mut info).cast(), &mut length)
    })?;
    Ok(info)
}

/// Bytes that were sent and not acknowledged by the peer's kernel.
pub fn unacknowledged(fd: RawFd) -> u64 {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the request writes one int, and `bytes` outlives the call.
    unsafe {
        libc::ioctl(fd, libc::TIOCOUTQ, &raw mut bytes);
    }
    u64::try_from(bytes).unwrap_or(0)
}

/// What BBR has estimated; gains in 256ths.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct BbrInfo {
    pub bandwidth_low: u32,
    pub bandwidth_high: u32,
    pub min_rtt_us: u32,
    pub pacing_gain: u32,
    pub cwnd_gain: u32,
}

/// None where the congestion control is not BBR: others have less to say, or nothing.
pub fn bbr_info(fd: RawFd) -> Option<BbrInfo> {
    let mut info = BbrInfo::default();
    let mut length = size_of::<BbrInfo>() as libc::socklen_t;
    // SAFETY: pointer and length describe `info`, whose fields may hold any bits.
    check(unsafe {
        libc::getsockopt(
            fd,
            libc::IPPROTO_TCP,
            libc::TCP_CC_INFO,
            (&raw mut info).cast(),
            &mut length,
        )
    })
    .ok()?;
    (length as usize == size_of::<BbrInfo>()).then_some(info)
}

/// The limits of a socket's receive and send buffers, as the kernel counts them: with its own
/// bookkeeping, which it takes to be half.
pub fn buffer_limits(fd: RawFd) -> io::Result<(u32, u32)> {
    // SK_MEMINFO_RCVBUF and SK_MEMINFO_SNDBUF of linux/sock_diag.h.
    const RECEIVE: usize = 1;
    const SEND: usize = 3;
    let mut counts = [0_u32; 9];
    let mut length = size_of_val(&counts) as libc::socklen_t;
    // SAFETY: pointer and length describe `counts`, which may hold any bits.
    check(unsafe {
        libc::getsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            counts.as_mut_ptr().cast(),
            &mut length,
        )
    })?;
    Ok((counts[RECEIVE], counts[SEND]))
}

/// User and system time of this process.
pub fn process_times() -> (Duration, Duration) {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the struct; all-zero is valid should it fail.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    (to_duration(usage.ru_utime), to_duration(usage.ru_stime))
}

fn to_duration(time: libc::timeval) -> Duration {
    let micros = time.tv_sec.saturating_mul(1_000_000).saturating_add(time.tv_usec);
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// The kernel's id of the calling thread.
pub fn thread_id() -> libc::pid_t {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::gettid() }
}

/// Raises the soft limit of open files to the hard one and returns it.
pub fn raise_file_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a pointer to `limit`, which outlives them.
    unsafe {
        check(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit))?;
        limit.rlim_cur = limit.rlim_max;
        check(libc::setrlimit(libc::RLIMIT_NOFILE, &limit))?;
    }
    Ok(limit.rlim_cur)
}

/// Fills a buffer with random bytes from the kernel.
pub fn random(buffer: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        let rest = &mut buffer[done..];
        // SAFETY: pointer and length describe `rest`.
        done += check_size(unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) })?;
    }
    Ok(())
}

/// The effective user.
pub fn user_id() -> u32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Becomes another user for good, real, effective and saved, without supplementary groups. Call before
/// any thread is started.
pub fn set_user(uid: u32, gid: u32) -> io::Result<()> {
    // SAFETY: no groups are passed, so no pointer is read; the other calls take numbers only.
    unsafe {
        check(libc::setgroups(0, std::ptr::null()))?;
        check(libc::setresgid(gid, gid, gid))?;
        check(libc::setresuid(uid, uid, uid)).map(drop)
    }
}

/// No program that this process might start gets rights that it does not have itself.
pub fn forbid_new_privileges() -> io::Result<()> {
    // SAFETY: prctl takes numbers only for this option.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }).map(drop)
}
