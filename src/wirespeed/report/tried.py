# SPDX-License-Identifier: Apache-2.0
"""What did a study that tried a change find?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from wirespeed.explain.tried import MeasuredGain, measured_gain
from wirespeed.model.explanation import KeyChange
from wirespeed.model.result import SearchResult
from wirespeed.model.words import gbps, mpps
from wirespeed.report.compare import placement_change
from wirespeed.store.records import PointRecord, RunRecord

_TCP = "TCP rate"
# The strictest first.
_FIGURES: Mapping[str, Callable[[SearchResult], float | None]] = MappingProxyType({
    "NDR": lambda r: r.ndr.lower.load_fps if r.ndr is not None and r.ndr.lower else None,
    "PDR": lambda r: r.pdr.lower.load_fps if r.pdr is not None and r.pdr.lower else None,
    "MRR": lambda r: r.mrr_fps,
    "constant": lambda r: r.constant.forwarding_fps if r.constant is not None else None,
    "MRR as this host is": lambda r: r.as_is.mrr_fps if r.as_is is not None else None,
    _TCP: lambda r: r.tcp.total_bps if r.tcp is not None else None,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tried:
    """keys: what was changed. figure: which figure is compared; pairs: its values before and after
    (frames/s; of TCP bits/s), those of pairs that have both. wanted: how many pairs were measured.
    gain: None where no pair has the same figure twice. moved: how many pairs do not count, because
    the polling CPUs shared other caches or cores for one measurement than for the other; that alone
    changes a rate, and the placement is told without a look at any count.
    """

    run_id: str
    keys: tuple[KeyChange, ...]
    wanted: int
    figure: str | None = None
    pairs: tuple[tuple[float, float], ...] = ()
    gain: MeasuredGain | None = None
    moved: int = 0


def tried(run: RunRecord, keys: tuple[KeyChange, ...], before: str) -> Tried:
    """By the strictest figure that most pairs have. before: how labels of points as they were
    begin."""
    pairs = _pairs(run, before)
    alike = [pair for pair in pairs if placement_change(*pair) is None]
    moved = len(pairs) - len(alike)
    by_figure = {name: _values(alike, pick) for name, pick in _FIGURES.items()}
    figure, values = max(by_figure.items(), key=lambda item: len(item[1]))
    if not values:
        return Tried(run.id, keys, len(pairs), moved=moved)
    return Tried(run.id, keys, len(pairs), figure, values, measured_gain(values), moved)


def _pairs(run: RunRecord, before: str) -> list[tuple[PointRecord, PointRecord]]:
    """As they were measured one after the other, the point as it was first."""
    two = zip(run.points[::2], run.points[1::2], strict=True)
    return [(a, b) if a.label.startswith(before) else (b, a) for a, b in two]


def _values(
    pairs: list[tuple[PointRecord, PointRecord]], pick: Callable[[SearchResult], float | None]
) -> tuple[tuple[float, float], ...]:
    found = []
    for a, b in pairs:
        before = None if a.result is None else pick(a.result)
        after = None if b.result is None else pick(b.result)
        if before and after is not None:
            found.append((before, after))
    return tuple(found)


def rate_words(value: float, figure: str) -> str:
    """A figure's value with its unit."""
    return f"{gbps(value)} Gbps" if figure == _TCP else f"{mpps(value)} Mpps"


def signed_percent(share: float) -> str:
    """+12.3%, -0.4%."""
    return f"{100 * share:+.1f}%"
