# SPDX-License-Identifier: Apache-2.0
"""Record when another program took the CPU of a thread that does not time its polls.

wsdp records the context switches of any thread on its host (perf_event_open, without tracefs). A
voluntary switch is not noise.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate

from wirespeed.bench.interface import BenchError
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.bench.noise.interface import WatchingProgram
from wirespeed.model.input.bounded import load_json
from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Source

_FORMAT = "wirespeed-switches-1"


@dataclass(frozen=True, slots=True)
class CpuRun:
    """Time during which a thread had a CPU, since the trial's first frame was due."""

    cpu: int
    begin_ns: int
    length_ns: int
    tid: int


@dataclass(frozen=True, slots=True)
class Switched:
    """Context switches of a trial."""

    stops: tuple[Disturbance, ...] = ()
    """Involuntary stops of the watched threads."""
    runs: tuple[CpuRun, ...] = ()
    """Runs of all threads on the watched CPUs."""
    unseen: tuple[str, ...] = ()
    """Reason for what is not in the record."""


class CpuTime:
    """Time that threads had of a CPU, from their runs, of which no two overlap."""

    def __init__(self, runs: Iterable[CpuRun]) -> None:
        spans = sorted((run.begin_ns, run.begin_ns + run.length_ns) for run in runs)
        self._begins, self._ends = [begin for begin, _ in spans], [end for _, end in spans]
        self._sums = [0, *accumulate(end - begin for begin, end in spans)]

    def between(self, begin_ns: int, end_ns: int) -> int:
        """Return the time in ns."""
        return self._until(end_ns) - self._until(begin_ns)

    def _until(self, at_ns: int) -> int:
        begun = bisect_left(self._begins, at_ns)
        return self._sums[begun] - (max(0, self._ends[begun - 1] - at_ns) if begun else 0)


def without_runs(
    stops: Iterable[Disturbance], runs: Iterable[CpuRun], tids: Collection[int]
) -> Iterator[Disturbance]:
    """Yield the stops, each shorter by the time that these threads had its CPU."""
    by_cpu: dict[int, list[CpuRun]] = {}
    for run in runs:
        if run.tid in tids:
            by_cpu.setdefault(run.cpu, []).append(run)
    times = {cpu: CpuTime(theirs) for cpu, theirs in by_cpu.items()}
    nothing = CpuTime(())
    for stop in stops:
        taken = times.get(stop.cpu, nothing).between(stop.begin_ns, stop.begin_ns + stop.length_ns)
        yield replace(stop, length_ns=max(0, stop.length_ns - taken))


@dataclass(slots=True)
class SwitchRecords:
    """Context switches of the watched threads and CPUs."""

    program: WatchingProgram
    refused: str | None = None
    """Reason why wsdp does not record; None if it does."""
    _watched: dict[int, str] = field(default_factory=dict)
    _cpus: tuple[int, ...] = ()

    def start(self, threads: Collection[tuple[int, str]], cpus: Iterable[int] = ()) -> None:
        """Watch these threads, given by id and role, and who runs on these CPUs."""
        self._watched, self._cpus = dict(threads), tuple(sorted(cpus))
        self.refused = None
        asked = [f"tid={tid}" for tid in self._watched] + [f"cpu={cpu}" for cpu in self._cpus]
        if not asked:
            return
        try:
            self.program.ask("switches," + ",".join(asked))
        except BenchError as error:
            if self.program.ended() is not None:
                raise
            self.refused = error.what

    def stop(self, clock: TrialClock) -> Switched:
        """Return the involuntary stops of the threads, and who ran on the CPUs."""
        if not self._watched and not self._cpus:
            return Switched()
        if self.refused is not None:
            return Switched(
                unseen=(f"context switches of the SUT's threads were not recorded: {self.refused}",)
            )
        file = load_json(self.program.export("switches_stop"))
        if file["format"] != _FORMAT:
            raise BenchError(f"wsdp writes switches as {file['format']}, not as {_FORMAT}")
        runs = [
            CpuRun(int(cpu), clock.at_ns(begin), clock.length_ns(length), tid)
            for cpu, seen in file["cpus"].items()
            for begin, length, tid in seen["runs"]
        ]
        return Switched(tuple(self._stops(file, clock)), tuple(runs), tuple(self._unseen(file)))

    def _stops(self, file: dict[str, dict[str, dict[str, list[list[int]]]]], clock: TrialClock
    ) -> Iterator[Disturbance]:  # fmt: skip
        for tid, thread in file["threads"].items():
            for begin, length, preempted, cpu in thread["stops"]:
                if preempted:
                    yield Disturbance(
                        cpu, clock.at_ns(begin), clock.length_ns(length), DisturbanceKind.STOPPED,
                        Source.CONTEXT_SWITCH, self._watched[int(tid)],
                    )  # fmt: skip

    def _unseen(self, file: dict[str, dict[str, dict[str, int]]]) -> Iterator[str]:
        watched = (*file["threads"].values(), *file["cpus"].values())
        if lost := sum(each["lost"] for each in watched):
            yield f"{lost} context switches of the SUT were not recorded: too many at once"
