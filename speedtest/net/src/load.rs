// SPDX-License-Identifier: Apache-2.0
//! CPU use of this process, and the time that a loop waits for its core.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use speedtest_proto::verdict::Load;

use crate::sys;

/// Measures CPU time of the whole process since a moment.
#[derive(Debug, Clone, Copy)]
pub struct ProcessMeter {
    since: Instant,
    user: Duration,
    system: Duration,
}

/// CPU use in percent of one core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessLoad {
    pub total_percent: f64,
    pub user_percent: f64,
    pub system_percent: f64,
}

impl ProcessMeter {
    pub fn start() -> ProcessMeter {
        let (user, system) = sys::process_times();
        ProcessMeter { since: Instant::now(), user, system }
    }

    pub fn read(&self) -> ProcessLoad {
        let (user, system) = sys::process_times();
        let wall_s = self.since.elapsed().as_secs_f64().max(1e-6);
        let user_percent = user.saturating_sub(self.user).as_secs_f64() / wall_s * 100.0;
        let system_percent = system.saturating_sub(self.system).as_secs_f64() / wall_s * 100.0;
        ProcessLoad { total_percent: user_percent + system_percent, user_percent, system_percent }
    }
}

/// Running and run-queue time of one thread, from its schedstat.
#[derive(Debug)]
pub struct ThreadMeter {
    schedstat: Option<File>,
}

/// A reading of a [`ThreadMeter`].
#[derive(Debug, Clone, Copy)]
pub struct ThreadTime {
    at: Instant,
    running_ns: u64,
    waiting_ns: u64,
}

impl ThreadMeter {
    /// Make a meter of the calling thread. It reads 0 if the kernel has no schedstat.
    pub fn of_this_thread() -> ThreadMeter {
        let path = format!("/proc/self/task/{}/schedstat", sys::thread_id());
        ThreadMeter { schedstat: File::open(path).ok() }
    }

    pub fn read(&self) -> ThreadTime {
        let mut buffer = [0; 64];
        let length =
            self.schedstat.as_ref().and_then(|file| file.read_at(&mut buffer, 0).ok()).unwrap_or(0);
        let text = std::str::from_utf8(&buffer[..length]).unwrap_or("");
        let mut words = text.split_ascii_whitespace().map(|word| word.parse().unwrap_or(0));
        let (running_ns, waiting_ns) = (words.next().unwrap_or(0), words.next().unwrap_or(0));
        ThreadTime { at: Instant::now(), running_ns, waiting_ns }
    }
}

impl ThreadTime {
    /// Return shares of the wall-clock time since `earlier`.
    pub fn since(&self, earlier: &ThreadTime) -> Load {
        let wall_ns = (self.at - earlier.at).as_nanos().max(1) as f64;
        // The kernel updates these at its own moments: over a short time a share may exceed 1.
        let share = |ns: u64, earlier: u64| ns.saturating_sub(earlier) as f64 / wall_ns;
        let running = share(self.running_ns, earlier.running_ns).min(1.0);
        let waiting = share(self.waiting_ns, earlier.waiting_ns).min(1.0 - running);
        Load { running, waiting }
    }
}
