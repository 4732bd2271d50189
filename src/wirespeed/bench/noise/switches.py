# SPDX-License-Identifier: Apache-2.0
"""Record when another program took the CPU of a thread that does not time its polls.

wsdp records the context switches of any thread on its host (perf_event_open, without tracefs). A
voluntary switch is not noise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from wirespeed.bench.interface import BenchError
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.bench.noise.interface import WatchingProgram
from wirespeed.model.input.bounded import load_json
from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Source

_FORMAT = "wirespeed-switches-1"


@dataclass(slots=True)
class SwitchRecords:
    """Context switches of the watched threads."""

    program: WatchingProgram
    refused: str | None = None
    """Reason why wsdp does not record; None if it does."""
    _watched: dict[int, str] = field(default_factory=dict)

    def start(self, threads: Collection[tuple[int, str]]) -> None:
        """Watch these threads, given by id and role."""
        self._watched = dict(threads)
        self.refused = None
        if not self._watched:
            return
        try:
            self.program.ask("switches," + ",".join(f"tid={tid}" for tid in self._watched))
        except BenchError as error:
            if self.program.ended() is not None:
                raise
            self.refused = error.what

    def stop(self, clock: TrialClock) -> tuple[tuple[Disturbance, ...], tuple[str, ...]]:
        """Return the involuntary stops of the threads, and what could not be recorded."""
        if not self._watched:
            return (), ()
        if self.refused is not None:
            return (), (f"context switches of the SUT's threads were not recorded: {self.refused}",)
        file = load_json(self.program.export("switches_stop"))
        if file["format"] != _FORMAT:
            raise BenchError(f"wsdp writes switches as {file['format']}, not as {_FORMAT}")
        return tuple(self._stops(file, clock)), tuple(self._unseen(file))

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
        lost = sum(thread["lost"] for thread in file["threads"].values())
        if lost:
            yield f"{lost} context switches of the SUT were not recorded: too many at once"
