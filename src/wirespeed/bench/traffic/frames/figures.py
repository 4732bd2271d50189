# SPDX-License-Identifier: Apache-2.0
"""Read what the generator's senders and receivers counted in a trial, each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.noise.clock import TrialClock
from wirespeed.bench.traffic.frames.streams import Direction
from wirespeed.model.result.observation import DirectionCount


@dataclass(frozen=True, slots=True)
class TrialFigures:
    """Counters of a trial."""

    ways: Sequence[Direction]
    tasks: Mapping[str, Mapping[str, int]]
    """Answer of each task to `/wirespeed/task`, by task name."""
    tsc_hz: int

    def directions(self) -> tuple[DirectionCount, ...]:
        """Frames offered and received since the trial began."""
        return tuple(self._direction(way) for way in self.ways)

    def clock(self) -> TrialClock:
        """Return when the first frame of the trial was due."""
        return TrialClock(min(self._of_senders("started_tsc")), self.tsc_hz)

    def elapsed_ns(self) -> int:
        """Time for which frames were offered, in ns."""
        return max(self._of_senders("elapsed_ns"))

    def refused_by_nic(self, way: Direction) -> int:
        """Return the frames that a NIC at line rate rejected.

        Frames that a ring of the SUT rejects are the SUT's loss instead.
        """
        return 0 if way.feeds_sut else self._sum(way, "offered") - self._sum(way, "tx")

    def _direction(self, way: Direction) -> DirectionCount:
        sink, refused = self.tasks[way.sink], self.refused_by_nic(way)
        return DirectionCount(
            name=way.name,
            intended=self._sum(way, "intended"),
            offered=self._sum(way, "offered") - refused,
            accepted=self._sum(way, "tx"),
            unsent=self._sum(way, "unsent") + refused,
            received=sink["received"],
            duplicated=sink["duplicated"],
            reordered=sink["reordered"],
            foreign=sink["foreign"],
            misdirected=sink["misdirected"],
            corrupted=sink["corrupt"],
        )

    def _sum(self, way: Direction, figure: str) -> int:
        return sum(self.tasks[name][figure] for name in way.generators)

    def _of_senders(self, figure: str) -> list[int]:
        return [self.tasks[name][figure] for way in self.ways for name in way.generators]
