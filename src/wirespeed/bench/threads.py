# SPDX-License-Identifier: Apache-2.0
"""Account for the polling threads of one host in a trial: time, CPUs, frames, interrupts."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from wirespeed.bench.assembly.parts import first_ended
from wirespeed.bench.interface import BenchError, Busy, Part, Poller
from wirespeed.bench.noise import cgroups, interrupts
from wirespeed.bench.noise.cgroups import Cgroups
from wirespeed.bench.noise.competing import Usage, booted_at, by_cpu, look, look_at_tasks
from wirespeed.bench.noise.settings import watched
from wirespeed.bench.noise.throttling import throttle_counts, throttled
from wirespeed.model.result.evidence import Disturbance
from wirespeed.model.result.observation import Competitor, PollingThread
from wirespeed.model.result.thread_time import CpuInterrupts, SutCpu, ThreadTime
from wirespeed.remote.interface import Runner
from wirespeed.sources.interrupts import read_interrupts
from wirespeed.sources.scheduler import Snapshot, snapshot, time_between


class HostThreads:
    """Looked at before and after the time of the traffic. `host`: see PollingThread.

    kernel_carries: whether the kernel carries frames there, in softirqs. forwards: CPUs of the SUT
    alone, if their time is to be counted.
    """

    def __init__(
        self, host: str, runner: Runner, parts: Sequence[Part], cpus: frozenset[int],
        *, kernel_carries: bool = False, forwards: frozenset[int] = frozenset(),
    ) -> None:  # fmt: skip
        self.pollers = tuple(poller for part in parts for poller in part.pollers())
        self._host, self._runner, self._parts, self._cpus = host, runner, parts, cpus
        self._kernel_carries, self._forwards = kernel_carries, forwards
        self._asked = self._then = _busy(parts)
        self._before = self._after = Snapshot({}, 0)
        self._nodes = _nodes(runner, cpus)
        self._usage = (time.monotonic(), look(runner))
        self._tasks: Mapping[int, Usage] = {}
        self._competitors: tuple[Competitor, ...] = ()
        self._groups = cgroups.read(runner, watched(parts))
        self.groups = Cgroups({})
        """Of the threads and programs, as the traffic ended."""
        self._interrupts = read_interrupts(runner, cpus)
        self.interrupts: tuple[CpuInterrupts, ...] = ()
        self._throttled_before = self._throttled = throttle_counts(runner, cpus)

    def before_traffic(self) -> None:
        """Read the first snapshot. Raises BenchError if a thread has ended."""
        self._before = self._snapshot()
        self._tasks = look_at_tasks(self._runner, self._ours)

    def after_traffic(self) -> None:
        self._after = self._snapshot()
        at_s, usage = self._usage
        interrupted = read_interrupts(self._runner, self._cpus)
        seen = interrupts.since(self._interrupts, interrupted, time.monotonic() - at_s, self._host)
        self.interrupts = (
            interrupts.without_softirqs(seen)
            if self._kernel_carries
            else interrupts.with_softirq_time(seen, self._before, self._after)
        )
        self._throttled = throttle_counts(self._runner, self._cpus)
        self.groups = cgroups.read(self._runner, watched(self._parts))
        now, elapsed_s = look(self._runner), time.monotonic() - at_s
        beside = {process.cpu for process in now.values()} - self._cpus
        told = partial(
            by_cpu, elapsed_s=elapsed_s, host=self._host, booted_s=booted_at(self._runner)
        )
        foreign = [
            told(usage, now, bench=self._ours, us=os.getpid(), cpus=cpus)
            for cpus in (self._cpus, beside)
        ]
        self._competitors = (*(other for others in foreign for other in others), *self._own())

    def _own(self) -> Iterator[Competitor]:
        """Yield threads of the bench's programs that do not poll, and used a CPU that polls.

        A program that was restarted meanwhile has threads that nobody knows yet: they may poll.
        """
        now = look_at_tasks(self._runner, self._ours)
        lasting = {tid: usage for tid, usage in now.items() if tid in self._tasks}
        elapsed_s = (self._after.at_ns - self._before.at_ns) / 1e9
        found = by_cpu(
            self._tasks, lasting, bench=set(self._tids), us=0, cpus=self._cpus,
            elapsed_s=elapsed_s, host=self._host, booted_s=booted_at(self._runner),
        )  # fmt: skip
        return (replace(other, own=True) for other in found)

    def at_rest(self) -> None:
        """All frames are handled."""
        self._then = _busy(self._parts)

    def disturbances(self, duration_s: float) -> tuple[Disturbance, ...]:
        """Return the noise on its CPUs during the whole trial, e.g. interrupts."""
        roles = {self._after.threads[p.tid].cpu: p.role for p in self.pollers
                 if p.tid in self._after.threads}  # fmt: skip
        duration_ns = round(duration_s * 1e9)
        return (
            *interrupts.disturbances(self.interrupts, roles, duration_ns),
            *throttled(self._throttled_before, self._throttled, roles, duration_ns),
        )

    def competitors(self) -> tuple[Competitor, ...]:
        """Threads that used the CPUs that poll, and then others, while frames were offered."""
        return self._competitors

    @property
    def steal_ns(self) -> int:
        return self._after.steal_ns - self._before.steal_ns

    @property
    def sut_cpu(self) -> SutCpu | None:
        """Return the CPU time of the SUT; None where it has no CPUs to itself."""
        if not self._forwards:
            return None
        was, now = self._before, self._after

        def spent_ns(cpus: Iterable[int], field: str) -> int:
            return sum(
                getattr(now, field).get(cpu, 0) - getattr(was, field).get(cpu, 0) for cpu in cpus
            )

        others = self._cpus - self._forwards if self._kernel_carries else ()
        return SutCpu(
            spent_ns(self._forwards, "busy_ns"),
            spent_ns(self._forwards, "softirq_ns"),
            spent_ns(others, "softirq_ns"),
        )

    def threads(self, offered_s: float) -> tuple[PollingThread, ...]:
        shares = _shares(self._asked, self._then, offered_s)
        lasting = [poller for poller in self.pollers if poller.tid in self._after.threads]
        return tuple(self._thread(poller, shares) for poller in lasting)

    def _thread(self, poller: Poller, shares: Mapping[int, float]) -> PollingThread:
        was, now = self._before.threads[poller.tid], self._after.threads[poller.tid]
        spent = self._time(poller.tid)
        busy = shares.get(poller.tid)
        if busy is not None and self._then.busy[poller.tid].awake:
            busy *= 1 - spent.asleep_ns / max(1, spent.elapsed_ns)
        return PollingThread(
            name=poller.name,
            role=poller.role,
            cpu=now.cpu,
            involuntary_switches=now.involuntary_switches - was.involuntary_switches,
            runqueue_wait_ns=now.runqueue_wait_ns - was.runqueue_wait_ns,
            busy_share=busy,
            host=self._host,
            node=self._nodes.get(now.cpu),
            time=spent,
            sleeps=poller.sleeps,
            calls_kernel=self._kernel_carries,
        )

    def _time(self, tid: int) -> ThreadTime:
        tracer = self._after.threads[tid].tracer
        named = self._named(tracer) if tracer else ""
        return replace(
            time_between(self._before, self._after, tid, named),
            throttle=self.groups.throttled_since(self._groups, tid),
            frozen=self.groups.frozen_since(self._groups, tid),
        )

    def _named(self, pid: int) -> str:
        """Return the program's name and PID, or the PID alone if the program has ended."""
        path = f"/proc/{pid}/comm"
        name = self._runner.read_many((path,))[path]
        return f"{name.strip()}, PID {pid}" if isinstance(name, str) else f"PID {pid}"

    @property
    def _ours(self) -> set[int]:
        return {pid for part in self._parts for pid in part.programs}

    @property
    def _tids(self) -> list[int]:
        return [poller.tid for poller in self.pollers]

    def _snapshot(self) -> Snapshot:
        tids = self._tids
        try:
            return snapshot(self._runner, tids, self._cpus)
        except OSError as error:
            check_alive(self._parts)
            # Those of a program that was ended on purpose are nobody's any more.
            polling = {poller.tid for part in self._parts for poller in part.pollers()}
            if polling.issuperset(tids):
                raise BenchError(f"a polling thread ended during the trial: {error}") from error
            return snapshot(self._runner, sorted(polling.intersection(tids)), self._cpus)


def _nodes(runner: Runner, cpus: Iterable[int]) -> Mapping[int, int]:
    """Return the NUMA node of each CPU by sysfs; an empty map on a kernel without NUMA."""
    base = "/sys/devices/system/cpu/cpu"
    found = runner.glob(*(f"{base}{cpu}/node[0-9]*" for cpu in cpus))
    paths = (path.removeprefix(base).split("/node") for path in found)
    return {int(cpu): int(node) for cpu, node in paths}


def check_alive(parts: Iterable[Part]) -> None:
    """Check that every part runs. Raises BenchError with the first that ended, and how."""
    if (ended := first_ended(parts)) is not None:
        raise BenchError(ended, "The bench is taken down; the results so far are kept.")


@dataclass(frozen=True, slots=True)
class _Looked:
    """When it was asked, and what every polling thread has done by then."""

    at_s: float
    busy: Mapping[int, Busy]


def _busy(parts: Iterable[Part]) -> _Looked:
    at_s = time.monotonic()
    return _Looked(at_s, {tid: busy for part in parts for tid, busy in part.busy().items()})


def _shares(before: _Looked, after: _Looked, offered_s: float) -> Mapping[int, float]:
    """For how much of the time of the traffic each thread had frames to handle.

    There were none before and after it: what it was busy between the two looks is all in there.
    """
    found = {}
    for tid, busy in after.busy.items():
        if tid in before.busy and (total := busy.total - before.busy[tid].total) > 0:
            share = (busy.busy - before.busy[tid].busy) / total
            found[tid] = min(1.0, share * (after.at_s - before.at_s) / offered_s)
    return found
