# SPDX-License-Identifier: Apache-2.0
"""Keep the trials of a point by placement, and replay them to a search that restarts.

Two placements are equal where each pair of polling CPUs is of the same kind. A search is
deterministic given its trials. Where the hypervisor moves the CPUs, the search of the other
placement starts from its beginning. It gets the trials that ran there so far, which takes no time,
and goes on with new ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

from wirespeed.measure.interface import MeasureError
from wirespeed.model.cpus import Placed, worst
from wirespeed.model.result.trial import Stage, Trial

Key = tuple[float, float, Stage]

MOVES_IN_A_ROW: Final = 12
"""After this many moves without a trial for the search that asked, no search comes to an end."""


class Moved(MeasureError):
    """A trial ran in another placement than that of the search that asked for it."""

    def __init__(self, placed: Placed) -> None:
        super().__init__(f"the CPUs moved: {worst(placed)}")
        self.placed = placed


@dataclass(slots=True)
class Journal:
    """All trials of a point."""

    placed: Placed | None = None
    """Placement of the search that runs; None until known."""
    frozen: bool = False
    """True if no further trial may run."""
    blind: bool = False
    """True if trials run only for the rates of all time, in any placement."""
    moves: int = 0
    """Moves in a row without a trial for the search that asked."""
    waited_s: float = 0.0
    """Time that the point waited for a placement, in s."""
    trials: list[Trial] = field(default_factory=list)
    overloads: dict[Placed | None, tuple[Trial, ...]] = field(default_factory=dict)
    """Trials behind the MRR of each placement."""
    _kept: dict[Placed | None, dict[Key, list[Trial]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    _used: Counter[Key] = field(default_factory=Counter)
    _reached: Counter[Placed | None] = field(default_factory=Counter)

    @property
    def spent_s(self) -> float:
        ran_s = sum(trial.duration_s + trial.observation.overhead_s for trial in self.trials)
        return ran_s + self.waited_s

    @property
    def replaying(self) -> bool:
        """Return whether the search has had these trials before."""
        return self._used.total() < self._reached[self.placed]

    @property
    def met(self) -> tuple[Placed, ...]:
        """Placements that have trials of their own."""
        return tuple(at for at, kept in self._kept.items() if at is not None and kept)

    @property
    def moved(self) -> bool:
        """Return whether the CPUs were in several placements so far, or moved during a trial."""
        return len(self.met) > 1 or any(trial.moved for trial in self.trials)

    @property
    def restless(self) -> bool:
        """Return whether the CPUs moved too often for any search to come to its end."""
        return self.moves >= MOVES_IN_A_ROW

    def start(self, placed: Placed | None) -> None:
        """Begin, or begin again, the search of a placement."""
        self._reached[self.placed] = max(self._reached[self.placed], self._used.total())
        self.placed, self._used = placed, Counter()

    def known(self, key: Key) -> Trial | None:
        """Return the search's next trial for that load, length and stage; None: it must run."""
        if not self.knows(key):
            return None
        self._used[key] += 1
        return self._kept[self.placed][key][self._used[key] - 1]

    def knows(self, key: Key) -> bool:
        """Return whether there is such a trial that the search has not had yet."""
        return not self.blind and self._used[key] < len(self._kept[self.placed].get(key, ()))

    def add(self, key: Key, trial: Trial) -> None:
        """Keep a trial that ran. Raises Moved where it is another placement's.

        A trial during which the CPUs moved stays with the search that asked: none of its time
        counts. So does one for the rates of all time, which has no placement.
        """
        self.trials.append(trial)
        if self.blind:
            return
        if trial.stage is Stage.AS_IS:
            self._kept[self.placed][key].append(trial)
            self._used[key] += 1
            return
        placed = trial.placed
        if self.placed is None and placed is not None:
            self._adopt(placed)
        counts = trial.stage is not Stage.LATENCY  # by then the search has ended
        if placed is None or placed == self.placed:
            self.moves = self.moves + counts if trial.moved else 0
            self._kept[self.placed][key].append(trial)
            self._used[key] += 1
            self.frozen = self.restless
            return
        self.moves += counts
        self.frozen = self.restless
        self._kept[placed][key].append(trial)
        raise Moved(placed)

    def _adopt(self, placed: Placed) -> None:
        """Start the search of the first placement that is known.

        Earlier trials during which the CPUs moved stay, as none of their time counts. Nobody knows
        where the others ran.
        """
        if all(trial.moved for trials in self._kept[None].values() for trial in trials):
            self.placed = placed
            self._kept[placed] = self._kept.pop(None)
