# SPDX-License-Identifier: Apache-2.0
"""Record the gaps of polling CPUs in slices of some seconds, and who ran meanwhile.

The logs of wsdp hold some seconds. They are read between two slices, and what that takes from the
CPUs is in no slice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.interface import BenchError
from wirespeed.bench.noise.interface import WatchingProgram
from wirespeed.bench.noise.poll_gaps import read_gap_logs, unseen
from wirespeed.model.input.bounded import load_json
from wirespeed.qualify.attribute import CpuRuns, Gap, Run
from wirespeed.remote.interface import Runner

# Ticks of the kernel take 1 to 5 us of a CPU each; a ring of 512 holds 34 us of the 14.88 Mpps of a
# 10 GbE port.
GAP_LIMIT_NS = 2_000
# The gap log has room for 3,276 gaps a second, the switch records for 5,200 switches.
SLICE_S = 5.0
# Answering the request takes time from the CPUs before a slice; waking up, after it.
_SETTLE_S = 0.02

_FORMAT = "wirespeed-switches-1"


@dataclass(frozen=True, slots=True)
class Slice:
    """Gaps of each CPU in one slice, in the order of time, with their causes."""

    watched_s: float
    gaps: Mapping[int, tuple[Gap, ...]]
    unseen: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SliceRecorder:
    """Recorder of the gaps of a program that polls on each CPU.

    pollers: thread of each CPU.
    """

    program: WatchingProgram
    runner: Runner
    tsc_hz: float
    pollers: Mapping[int, int]
    wait: Callable[[float], None] = time.sleep

    def slices(self, seconds: float) -> Iterator[Slice]:
        """Yield slices that together last as long. Raises BenchError."""
        left = seconds
        while left > 0:
            length = min(left, SLICE_S)
            yield self._slice(length)
            left -= length

    def _slice(self, seconds: float) -> Slice:
        refused = self._record_switches()
        self.program.ask(f"reset,gap_limit_ns={GAP_LIMIT_NS}")
        began = int(self.program.ask("info")["tsc"]) + round(_SETTLE_S * self.tsc_hz)
        ended = began + round(seconds * self.tsc_hz)
        self.wait(seconds + 2 * _SETTLE_S)
        logs = read_gap_logs(self.program.export("gaps"), "qualify", "poller")
        missed = [] if refused is None else [refused]
        runs: Mapping[int, Sequence[Run]] = {}
        names: Mapping[int, str] = {}
        if refused is None:
            runs, names, lost = self._switches()
            missed += lost
        found = {}
        for log in logs:
            missed += unseen(log)
            inside = (
                Gap(self._ns(begin), self._ns(length))
                for begin, length in log.gaps
                if began <= begin < ended
            )
            ran = CpuRuns(runs.get(log.cpu, ()), self.pollers[log.cpu])
            found[log.cpu] = tuple(
                ran.named(gap, names) if log.cpu in runs else gap for gap in inside
            )
        return Slice(seconds, found, tuple(missed))

    def _record_switches(self) -> str | None:
        """Record who runs on the CPUs; return why that is refused, or None."""
        try:
            self.program.ask("switches," + ",".join(f"cpu={cpu}" for cpu in self.pollers))
        except BenchError as error:
            if self.program.ended() is not None:
                raise
            return f"who caused the gaps is not known: {error.what}"
        return None

    def _switches(self) -> tuple[dict[int, list[Run]], dict[int, str], list[str]]:
        """Return who ran on each CPU, the names of the threads, and what was lost."""
        file = load_json(self.program.export("switches_stop"))
        if file["format"] != _FORMAT:
            raise BenchError(f"wsdp writes switches as {file['format']}, not as {_FORMAT}")
        runs, lost = {}, []
        names: dict[int, str] = {}
        for cpu, seen in file["cpus"].items():
            runs[int(cpu)] = [
                Run(self._ns(begin), self._ns(length), tid) for begin, length, tid in seen["runs"]
            ]
            names |= {int(tid): name for tid, name in seen["names"].items()}
            if seen["lost"]:
                lost.append(f"CPU {cpu}: {seen['lost']} context switches were not recorded")
        return runs, self._named({run.tid for each in runs.values() for run in each}, names), lost

    def _named(self, tids: set[int], changed: Mapping[int, str]) -> dict[int, str]:
        """Return the names of threads: as they are now, or as they became while watched."""
        paths = {f"/proc/{tid}/comm": tid for tid in tids}
        texts = self.runner.read_many(tuple(paths))
        found = {paths[path]: text.strip() for path, text in texts.items() if isinstance(text, str)}
        return {**changed, **found}

    def _ns(self, cycles: int) -> int:
        return round(cycles * 1e9 / self.tsc_hz)
