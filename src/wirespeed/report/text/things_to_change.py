# SPDX-License-Identifier: Apache-2.0
"""List what to change over all points of a run, each change once, the largest gain first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len

from wirespeed.explain.gains import advice, gain_rank, relative_gain
from wirespeed.model.result.explanation import ExpectedGain, GainKind
from wirespeed.model.words import counted, percent
from wirespeed.report.text.limits import explanations, gain_value, measured
from wirespeed.report.text.summary import cut
from wirespeed.store.records import RunRecord

# Smaller relative gains print as 0%.
_NOTHING = 0.005


@dataclass(frozen=True, slots=True)
class Change:
    """A change, the point that gains most by it, and the number of points that it helps."""

    change: str
    setting: str | None
    gain: ExpectedGain | None
    label: str
    points: int
    relative: float | None
    """Gain as a share of the point's rate; 0 where it prints as 0%, None where unknown."""


def things_to_change(run: RunRecord) -> tuple[Change, ...]:
    """Return the changes that the explanations of the run's points propose."""
    proposed: dict[str, list[Change]] = {}
    for change in _proposed(run):
        proposed.setdefault(change.change, []).append(change)
    best = []
    for same in proposed.values():
        first = min(same, key=lambda change: gain_rank(change.relative))
        best.append(
            Change(first.change, first.setting, first.gain, first.label, len(same), first.relative)
        )
    return tuple(sorted(best, key=lambda change: gain_rank(change.relative)))


def _proposed(run: RunRecord) -> Iterator[Change]:
    for point in run.points:
        if (seen := measured(point, run.host)) is None:
            continue
        for found in advice(seen, explanations(point)):
            if found.proposal is not None:
                relative = relative_gain(seen, found)
                if relative is not None and relative < _NOTHING:
                    relative = 0.0
                yield Change(
                    found.proposal.change.rstrip("."), found.proposal.setting, found.gain,
                    point.label, 1, relative,
                )  # fmt: skip


def change_line(change: Change, run: RunRecord, width: int | None = None) -> str:
    """Format e.g. "Add a PMD core and an Rx queue: up to +97%, +4.6 Mpps at 64 B (5 of 6 points)".

    width: cells of a terminal, which the words of the change are cut to; None: not cut.
    """
    total = len(run.points)
    helps = "" if total == 1 else f" ({change.points} of {counted(total, 'point')})"
    nowhere = change.gain is None or change.gain.value <= 0 or change.relative == 0 or total == 1
    where = "" if nowhere else f" at {change.label}"
    gain = f": {gain_and_kind(change)}{where}{helps}"
    return f"{cut(change.change, None if width is None else width - cell_len(gain))}{gain}"


def gain_and_kind(change: Change) -> str:
    """Format the expected gain: "up to +97%, +4.627 Mpps"; a factor as "about 1.4x"."""
    gain, relative = change.gain, change.relative
    if gain is None:
        return "gain unknown"
    if gain.value <= 0 or relative == 0:
        return "no gain expected"
    about = "up to" if gain.kind is GainKind.BOUND else "about"
    if gain.unit == "x":
        return f"{about} {gain_value(gain)}"
    share = "" if relative is None else f"+{percent(relative, 0)}, "
    return f"{about} {share}+{gain_value(gain)}"
