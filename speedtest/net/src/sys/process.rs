// SPDX-License-Identifier: Apache-2.0
//! The process: user, limits, CPU time, random bytes.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use rustix::rand::{getrandom, GetRandomFlags};

use super::check;

/// Return user and system time of this process.
#[expect(unsafe_code, reason = "rustix has no getrusage")]
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

/// Return this host's name; None if it is not UTF-8.
pub fn host_name() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

/// Return the kernel's ID of the calling thread.
pub fn thread_id() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// Raise the soft limit of open files to the hard one and return it.
pub fn raise_file_limit() -> io::Result<u64> {
    let most = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most })?;
    Ok(most.unwrap_or(u64::MAX))
}

/// Fill a buffer with random bytes from the kernel.
pub fn random(buffer: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        done += getrandom(&mut buffer[done..], GetRandomFlags::empty())?;
    }
    Ok(())
}

/// Return the effective user ID.
pub fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Change to another user permanently (real, effective and saved), without supplementary groups.
/// Call it before any thread is started.
#[expect(unsafe_code, reason = "rustix changes one thread; libc changes all, should there be more")]
pub fn set_user(uid: u32, gid: u32) -> io::Result<()> {
    // SAFETY: no groups are passed, so no pointer is read; the other calls take numbers only.
    unsafe {
        check(libc::setgroups(0, std::ptr::null()))?;
        check(libc::setresgid(gid, gid, gid))?;
        check(libc::setresuid(uid, uid, uid)).map(drop)
    }
}

/// Set no_new_privs: no program that this process starts gains privileges.
pub fn forbid_new_privileges() -> io::Result<()> {
    Ok(rustix::thread::set_no_new_privs(true)?)
}
