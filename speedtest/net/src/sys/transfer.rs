// SPDX-License-Identifier: Apache-2.0
//! Non-blocking transfer of bytes into and out of sockets.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};

use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags};

const WITHOUT_WAITING: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT);
/// Linux's MSG_ZEROCOPY, which rustix has no name for.
const ZERO_COPY: SendFlags = SendFlags::from_bits_retain(libc::MSG_ZEROCOPY as u32);
/// Buffer size of a completion notice; larger than any notice.
const NOTICE_BYTES: usize = 128;

/// Write without raising SIGPIPE. With `zero_copy` the kernel reads the pages after the call: pass
/// only memory that is never written again, such as the hot buffer.
pub fn send(fd: impl AsFd, bytes: &[u8], zero_copy: bool) -> io::Result<usize> {
    let zero_copy = if zero_copy { ZERO_COPY } else { SendFlags::empty() };
    Ok(rustix::net::send(fd, bytes, WITHOUT_WAITING | zero_copy)?)
}

/// Write several parts as one, without raising SIGPIPE.
pub fn send_parts(fd: impl AsFd, parts: &[IoSlice<'_>]) -> io::Result<usize> {
    let mut control = SendAncillaryBuffer::default();
    Ok(rustix::net::sendmsg(fd, parts, &mut control, WITHOUT_WAITING)?)
}

/// Read into a buffer.
pub fn receive(fd: impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::net::recv(fd, buffer, RecvFlags::DONTWAIT)?.0)
}

/// Take one datagram: copy as much as fits, return its whole length.
pub fn receive_start(fd: impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::net::recv(fd, buffer, RecvFlags::DONTWAIT | RecvFlags::TRUNC)?.1)
}

/// Drop up to `most` bytes of a TCP socket's queue inside the kernel, without a copy.
#[expect(unsafe_code, reason = "rustix receives into a buffer; here there is none")]
pub fn discard(fd: impl AsFd, most: usize) -> io::Result<usize> {
    let fd = fd.as_fd().as_raw_fd();
    // SAFETY: tcp(7): with MSG_TRUNC on a stream socket the buffer is not touched and may be null.
    let dropped =
        unsafe { libc::recv(fd, std::ptr::null_mut(), most, libc::MSG_TRUNC | libc::MSG_DONTWAIT) };
    usize::try_from(dropped).map_err(|_| io::Error::last_os_error())
}

/// Take one zero-copy completion notice off a socket's error queue. Return false if there is none.
pub fn reap_zero_copy(fd: impl AsFd) -> bool {
    let flags = RecvFlags::ERRQUEUE | RecvFlags::DONTWAIT;
    let mut space = [MaybeUninit::uninit(); NOTICE_BYTES];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    rustix::net::recvmsg(fd, &mut [], &mut control, flags).is_ok()
}
