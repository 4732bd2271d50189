# SPDX-License-Identifier: Apache-2.0
"""Record when another program took the CPU of a thread that does not time its polls.

wsdp records the context switches of any thread on its host (perf_event_open, without tracefs). A
voluntary switch is not noise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

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


def without_runs(stop: Disturbance, runs: Iterable[CpuRun], tids: Collection[int]) -> Disturbance:
    """Shorten a stop by the time that these threads had its CPU."""
    end_ns = stop.begin_ns + stop.length_ns
    taken = sum(
        max(0, min(end_ns, run.begin_ns + run.length_ns) - max(stop.begin_ns, run.begin_ns))
        for run in runs
        if run.cpu == stop.cpu and run.tid in tids
    )
    return replace(stop, length_ns=max(0, stop.length_ns - taken))


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
