# SPDX-License-Identifier: Apache-2.0
"""Summarise the cells of the fault matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.faults.cases import CASES, GENERATOR, SUT, WHOSE
from scipy.stats import beta

from wirespeed.model.study.injected import NO_FAULT

# What the project asks of itself.
NAMED, FALSE_ALARMS = 0.95, 0.02
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Cell:
    """One point: what was caused and what was named, most important first. said: the first in
    words. error: why it has no explanations."""

    kind: str
    topology: str
    load_fps: float
    strength: float
    place: str
    named: Sequence[Sequence[str | None]] = field(default_factory=tuple)
    right: bool = False
    hop: str = ""
    took_s: float = 0.0
    error: str = ""
    said: str = ""

    @classmethod
    def failed(cls, kind: str, topology: str, why: str) -> Cell:
        return cls(kind, topology, 0.0, 0.0, "", error=why)

    @property
    def first(self) -> str:
        """The first that says whose fault something is; else "nothing"."""
        return next((str(limit) for limit, _ in self.named if limit in WHOSE), "nothing")

    def __str__(self) -> str:
        ok = self.right or (self.kind == NO_FAULT and not self.alarm)
        verdict, said = ("ok", "") if ok else ("WRONG", f"; {self.said}")
        named = ", ".join(f"{limit}@{hop}" for limit, hop in self.named[:3])
        return (
            f"{verdict} {self.kind}:{self.strength:.4g} at {self.place or '-'} on {self.topology}, "
            f"{self.load_fps:.0f} fps: {named} ({self.took_s} s){said}"
        )

    @property
    def alarm(self) -> bool:
        """True if the SUT, its settings or the generator is blamed for something."""
        return bool(self.error) or WHOSE.get(self.first) in (SUT, GENERATOR)


def interval(hits: int, total: int) -> tuple[float, float]:
    """Clopper and Pearson's, of a share."""
    if not total:
        return 0.0, 1.0
    tail = (1 - CONFIDENCE) / 2
    low = float(beta.ppf(tail, hits, total - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, total - hits)) if hits < total else 1.0
    return low, high


def report(cells: Sequence[Cell], not_run: Mapping[str, str]) -> int:
    """Print everything; 1 where the project's aims are missed."""
    caused = [cell for cell in cells if cell.kind != NO_FAULT]
    healthy = [cell for cell in cells if cell.kind == NO_FAULT]
    _matrix(cells)
    for kind, why in not_run.items():
        print(f"# {kind}: not run: {why}")
    for cell in cells:
        if cell.error:
            print(f"# {cell.kind} on {cell.topology}: {cell.error}")
    right = _share("named_first", sum(cell.right for cell in caused), len(caused))
    wrong_owner = [cell for cell in caused if _crossed(cell)]
    _share("blamed_the_wrong_side", len(wrong_owner), len(caused))
    alarms = _share("false_alarms", sum(cell.alarm for cell in healthy), len(healthy))
    reached = right >= NAMED and alarms <= FALSE_ALARMS and not wrong_owner
    return 0 if reached else 1


def _crossed(cell: Cell) -> bool:
    """Return whether the first name confuses the SUT with the generator or the host."""
    whose = {case.kind: case.whose for case in CASES}[cell.kind]
    named = WHOSE.get(cell.first)
    return named is not None and (named == SUT) != (whose == SUT)


def _share(name: str, hits: int, total: int) -> float:
    low, high = interval(hits, total)
    share = hits / total if total else 0.0
    print(f"{name}: {hits} of {total} = {share:.3f} (95%: {low:.3f} to {high:.3f})")
    return share


def _matrix(cells: Sequence[Cell]) -> None:
    """Print a row for each injected fault: counts of what was named first."""
    print(f"{'caused':20}{'right':>7}{'cells':>7}  named first")
    for kind in dict.fromkeys([*(case.kind for case in CASES), NO_FAULT]):
        row = [cell for cell in cells if cell.kind == kind]
        if row:
            named = Counter("error" if cell.error else cell.first for cell in row)
            right = sum(cell.right or (kind == NO_FAULT and not cell.alarm) for cell in row)
            words = ", ".join(f"{word} {n}" for word, n in named.most_common())
            print(f"{kind:20}{right:7}{len(row):7}  {words}")
