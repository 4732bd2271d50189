# SPDX-License-Identifier: Apache-2.0
"""Keep the trials of a point by placement, and replay them to a search that starts again.

A search is deterministic given its trials. Where the hypervisor moves the CPUs, the search of the
other placement starts from its beginning and gets the trials that ran there so far: this takes no
time. It goes on with new trials where those end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

from wirespeed.measure.interface import MeasureError
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.trial import Stage, Trial

Key = tuple[float, float, Stage]

MOVES_IN_A_ROW: Final = 12
"""After so many moves without a trial for the search that asked, none of them comes to an end."""


class Moved(MeasureError):
    """A trial came out in another placement than that of the search that asked for it."""

    def __init__(self, kind: PlacementKind) -> None:
        super().__init__(f"the CPUs moved: {kind.value}")
        self.kind = kind


@dataclass(slots=True)
class Journal:
    """All trials of a point. kind: the placement of the search that runs; None until it is known.

    frozen: no further trial may run. moves: in a row, without a trial for the search that asked.
    """

    kind: PlacementKind | None = None
    frozen: bool = False
    moves: int = 0
    trials: list[Trial] = field(default_factory=list)
    _kept: dict[PlacementKind | None, dict[Key, list[Trial]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    _used: Counter[Key] = field(default_factory=Counter)
    _reached: Counter[PlacementKind | None] = field(default_factory=Counter)

    @property
    def spent_s(self) -> float:
        return sum(trial.duration_s + trial.observation.overhead_s for trial in self.trials)

    @property
    def replaying(self) -> bool:
        """Whether the search has had these trials before."""
        return self._used.total() < self._reached[self.kind]

    @property
    def kinds(self) -> tuple[PlacementKind, ...]:
        """The placements that have trials of their own."""
        return tuple(kind for kind in self._kept if kind is not None)

    def start(self, kind: PlacementKind | None) -> None:
        """Begin, or begin again, the search of a placement."""
        self._reached[self.kind] = max(self._reached[self.kind], self._used.total())
        self.kind, self._used = kind, Counter()

    def known(self, key: Key) -> Trial | None:
        """Return the next trial that the search gets for that load, length and stage; None where
        it must run."""
        kept = self._kept[self.kind][key]
        if self._used[key] == len(kept):
            return None
        self._used[key] += 1
        return kept[self._used[key] - 1]

    def add(self, key: Key, trial: Trial) -> None:
        """Keep a trial that ran. Raises Moved where it is another placement's. One during which the
        CPUs moved stays with the search that asked: none of its time counts."""
        self.trials.append(trial)
        kind = trial.placement
        if self.kind is None and kind is not None:
            self._adopt(kind)
        if kind is None or kind is self.kind:
            self.moves = 0
            self._kept[self.kind][key].append(trial)
            self._used[key] += 1
            return
        self.moves += 1
        self._kept[kind][key].append(trial)
        raise Moved(kind)

    def _adopt(self, kind: PlacementKind) -> None:
        """What ran before the placement was known belongs to it."""
        self.kind = kind
        self._kept[kind] = self._kept.pop(None, self._kept[kind])
