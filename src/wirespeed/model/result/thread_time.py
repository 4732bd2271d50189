# SPDX-License-Identifier: Apache-2.0
"""Account for the time of polling threads, and for the interrupts of the CPUs that they poll on."""

from __future__ import annotations

from dataclasses import dataclass

# A thread that leaves its CPU by itself for longer each time does not sleep between polls: Open
# vSwitch's PMD threads sleep 10 ms at most (pmd-maxsleep).
LONGEST_SLEEP_NS = 20_000_000


# Per source and CPU: at some µs each they take a few percent of its time.
MANY_INTERRUPTS_PER_S = 10_000
# Of a CPU's time in softirqs, where polling threads carry the frames.
MUCH_SOFTIRQ_TIME = 0.03


@dataclass(frozen=True, slots=True)
class Throttle:
    """Limit of CPU time by a cgroup, and how often it stopped the cgroup's threads in a trial."""

    cgroup: str
    """Path of the cgroup, e.g. "/system.slice/ovs.service"."""
    quota_us: int
    """CPU time that its threads may use in each period, in µs."""
    period_us: int
    times: int
    """Periods in which the quota was used up."""
    throttled_ns: int
    """Time during which a run queue of the cgroup was stopped, in ns, summed over CPUs."""

    @property
    def cpus(self) -> float:
        """CPUs' worth of time that the quota allows."""
        return self.quota_us / self.period_us


@dataclass(frozen=True, slots=True)
class ThreadTime:
    """Time of a thread while frames were offered, in ns, as the kernel counted it.

    elapsed = on CPU + waiting + away, to one tick of the kernel.
    """

    elapsed_ns: int
    on_cpu_ns: int
    waiting_ns: int
    """Ready to run, without a CPU: another thread had it, or a quota was used up."""
    away_ns: int
    """Not ready to run: stopped, or asleep."""
    left_cpu: int
    """Number of times that the thread gave up its CPU by itself."""
    state: str = ""
    """State in the kernel's words as the traffic ended, e.g. "t (tracing stop)"."""
    tracer: str = ""
    """Program that traced the thread then, with its PID; empty where none did."""
    throttle: Throttle | None = None
    """Tightest limit of the thread's cgroups; None where none was reached."""
    frozen: str = ""
    """Path of a cgroup of the thread that a freezer stopped; empty where none did."""
    kernel_ns: int = 0
    """Part of on_cpu_ns in the kernel: system calls, faults and traps. The kernel samples it by its
    tick (proc_pid_stat(5), stime); 0 in records of an older version."""
    minor_faults: int = 0
    """Page faults that the kernel served without reading a disk; 0 in older records."""
    major_faults: int = 0
    """Page faults that waited for a disk or for swap; 0 in older records."""

    @property
    def not_running_ns(self) -> int:
        return self.waiting_ns + self.away_ns

    @property
    def asleep_ns(self) -> int:
        """Time away in stretches that a poller may sleep between polls."""
        sleeps = self.left_cpu and self.away_ns / self.left_cpu <= LONGEST_SLEEP_NS
        return self.away_ns if sleeps and not self.stopped_state and not self.frozen else 0

    @property
    def stopped_ns(self) -> int:
        """Time away that is not sleep: a signal, a tracer or a freezer stopped the thread."""
        return self.away_ns - self.asleep_ns

    @property
    def stopped_state(self) -> bool:
        """The thread was still stopped when the traffic ended."""
        return self.state[:1] in ("T", "t", "D")

    @property
    def stopped_by(self) -> str:
        """Return what stopped the thread, as exactly as the kernel tells; empty: it does not."""
        if self.tracer:
            return f"{self.tracer}, traced it (ptrace)"
        if self.frozen:
            return f"its cgroup {self.frozen} was frozen"
        return _STOPS.get(self.state[:1], "")


_STOPS = {
    "T": "a signal had stopped it as the traffic ended (SIGSTOP; state T)",
    "t": "a tracer had stopped it as the traffic ended (ptrace; state t)",
    "D": "it waited in the kernel for a lock or a device as the traffic ended (state D)",
}


@dataclass(frozen=True, slots=True)
class SutCpu:
    """CPU time of the SUT while frames were offered, in ns, as the kernel counts it (proc_stat(5)).

    A SUT that polls uses its CPUs whole at any load. On most kernels a count is a sample of each
    tick of 1 to 10 ms.
    """

    busy_ns: int
    """Time of the CPUs that forward with any program, in the kernel and in interrupts."""
    softirq_ns: int
    """Part of busy_ns in softirqs."""
    carried_ns: int = 0
    """Softirqs of the generator's CPUs, where the kernel carries frames: those that hand frames to
    the SUT, and those of the generator's own reception; nobody tells them apart."""

    @property
    def total_ns(self) -> int:
        return self.busy_ns + self.carried_ns

    def per_million_s(self, frames: int) -> float | None:
        """Return the CPU seconds per million forwarded frames; None without frames."""
        return self.total_ns / 1e3 / frames if frames else None


@dataclass(frozen=True, slots=True)
class CpuInterrupts:
    """Interrupts of one source on one polling CPU in a trial."""

    cpu: int
    source: str
    """The kernel's name, e.g. "Local timer interrupts", "virtio3-rx" or "softirq NET_RX"."""
    count: int
    per_s: float
    host: str = ""
    time_share: float = 0.0
    """Share of the trial's time that they took, where the kernel tells: of all softirqs together
    (proc_stat(5)), with the kind that was most frequent as their source."""

    @property
    def many(self) -> bool:
        """Return whether they can cost frames."""
        return self.per_s >= MANY_INTERRUPTS_PER_S or self.time_share >= MUCH_SOFTIRQ_TIME
