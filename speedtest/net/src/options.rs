// SPDX-License-Identifier: Apache-2.0
//! Options of a test's data socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use socket2::{Domain, SockRef, Socket, Type};

use crate::sys;

/// Options of one data socket; unset ones keep the kernel's value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    pub congestion: Option<String>,
    pub window_bytes: Option<u32>,
    pub mss: Option<u32>,
    pub no_delay: bool,
    pub tos: Option<u32>,
    pub fq_rate_bps: Option<u64>,
    pub zero_copy: bool,
}

/// Option that the kernel rejected.
#[derive(Debug)]
pub struct Refused {
    pub option: &'static str,
    pub error: io::Error,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the kernel refused {}: {}", self.option, self.error)
    }
}

/// Set all options, or return the one that the kernel rejected.
pub fn apply(socket: &impl AsFd, options: &Options) -> Result<(), Refused> {
    let named = |option| move |error| Refused { option, error };
    let fd = socket.as_fd().as_raw_fd();
    let socket = SockRef::from(socket);
    if let Some(name) = &options.congestion {
        socket.set_tcp_congestion(name.as_bytes()).map_err(named("congestion control"))?;
    }
    if let Some(bytes) = options.window_bytes {
        socket.set_recv_buffer_size(bytes as usize).map_err(named("the window (SO_RCVBUF)"))?;
        socket.set_send_buffer_size(bytes as usize).map_err(named("the window (SO_SNDBUF)"))?;
    }
    if let Some(mss) = options.mss {
        socket.set_tcp_mss(mss).map_err(named("MSS"))?;
    }
    if options.no_delay {
        socket.set_tcp_nodelay(true).map_err(named("no delay"))?;
    }
    if let Some(tos) = options.tos {
        set_tos(fd, tos).map_err(named("TOS"))?;
    }
    if let Some(rate) = options.fq_rate_bps {
        let bytes_per_s = i32::try_from(rate / 8).unwrap_or(i32::MAX);
        sys::set_option(fd, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, bytes_per_s)
            .map_err(named("pacing rate"))?;
    }
    if options.zero_copy {
        sys::set_option(fd, libc::SOL_SOCKET, libc::SO_ZEROCOPY, 1).map_err(named("zero copy"))?;
    }
    Ok(())
}

/// Set the TOS byte: by the IPv4 option on a dual-stack socket that carries IPv4, else by the IPv6
/// one.
fn set_tos(fd: i32, tos: u32) -> io::Result<()> {
    let value = i32::try_from(tos & 0xff).unwrap_or(0);
    let v4 = sys::set_option(fd, libc::IPPROTO_IP, libc::IP_TOS, value);
    let v6 = sys::set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_TCLASS, value);
    v4.or(v6)
}

/// Return the congestion control of TCP sockets that do not set one.
pub fn default_congestion() -> Option<String> {
    congestion_of(&Socket::new(Domain::IPV4, Type::STREAM, None).ok()?)
}

/// Return the congestion control of a TCP socket.
pub fn congestion_of(socket: &impl AsFd) -> Option<String> {
    let name = SockRef::from(socket).tcp_congestion().ok()?;
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    String::from_utf8(name[..end].to_vec()).ok()
}
