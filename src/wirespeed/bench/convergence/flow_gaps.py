# SPDX-License-Identifier: Apache-2.0
"""Read the flow gaps of a sink, and find when each prefix was reachable again. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wirespeed.bench.convergence.own_time import Span
from wirespeed.bench.interface import BenchError
from wirespeed.model.input.bounded import load_json

_FORMAT = "wirespeed-flow-gaps-1"
# dataplane/pktlib/stamp.h
_STAMP_BITS = 56
# A flow without a frame for N intervals before the end of the traffic is lost.
_SILENT_INTERVALS = 3


class Gap(NamedTuple):
    """Frames of a flow that are missing, or its change to another path."""

    flow: int
    lost: int
    before_tsc: int
    """Time of the last frame before; 0 if there was none."""
    after_tsc: int
    path_before: int
    path_after: int


@dataclass(frozen=True, slots=True)
class FlowGaps:
    """Record of a sink on its tracked flows."""

    tsc_hz: int
    gaps: tuple[Gap, ...]
    last_tsc: tuple[int, ...]
    """Time of each flow's last frame; 0 if there was none."""
    misrouted: int
    looped: int


@dataclass(frozen=True, slots=True)
class Watched:
    """An event in the traffic, in cycles of the TSC."""

    at_tsc: int
    end_tsc: int
    """End of the traffic."""
    interval: float
    """Cycles between two frames of a flow."""
    new_path: int | None
    """None if frames take the same path again."""


@dataclass(frozen=True, slots=True)
class FlowFate:
    """Effect of an event on a flow, in cycles."""

    spans: tuple[Span, ...] = ()
    """Times in which none of its frames arrived, by the TSC."""
    back_tsc: int | None = None
    """Time of its first frame by the new path; None if it has none."""
    silent: bool = False
    """No frame arrives at the end of the traffic."""

    @property
    def dark(self) -> float:
        """Return the time in which none of its frames arrived."""
        return sum(end - begin for begin, end in self.spans)


def read_flow_gaps(text: str, now_tsc: int) -> FlowGaps:
    """Read the file of a sink. Raises BenchError if it is of another format or incomplete.

    now_tsc: a later reading of the TSC, for stamps have its low bits.
    """
    found = load_json(text)
    if found["format"] != _FORMAT:
        raise BenchError(f"wsdp writes flow gaps as {found['format']}, not as {_FORMAT}")
    if missing := found["not_recorded"]:
        raise BenchError(
            f"the sink had no room for {missing:,} gaps of flows, so times are unknown",
            "Offer less: set convergence.rate_fps lower.",
        )
    base = now_tsc >> _STAMP_BITS << _STAMP_BITS
    return FlowGaps(
        found["tsc_hz"],
        tuple(
            Gap(flow, lost, before and base + before, base + after, *paths)
            for flow, lost, before, after, *paths in found["gaps"]
        ),
        tuple(tsc and base + tsc for tsc, _, _ in found["last"]),
        found["misrouted"],
        found["looped"],
    )


def fates(seen: FlowGaps, event: Watched) -> Sequence[FlowFate]:
    """Return the fate of each tracked flow; gaps that ended before the event do not count."""
    found = [FlowFate()] * len(seen.last_tsc)
    for gap in seen.gaps:
        if gap.after_tsc < event.at_tsc:
            continue
        before = found[gap.flow]
        back = before.back_tsc
        if back is None and _is_back(gap, event.new_path):
            back = gap.after_tsc
        begin = gap.before_tsc or event.at_tsc
        # Without loss, one interval lies between two frames.
        span = (begin + event.interval, gap.after_tsc)
        spans = before.spans
        if gap.lost and span[0] < span[1]:
            spans = (*spans, span)
        found[gap.flow] = FlowFate(spans, back)
    for flow, last_tsc in enumerate(seen.last_tsc):
        dark = event.end_tsc - max(last_tsc, event.at_tsc) - event.interval
        if dark > _SILENT_INTERVALS * event.interval:
            spans = (*found[flow].spans, (event.end_tsc - dark, event.end_tsc))
            found[flow] = FlowFate(spans, found[flow].back_tsc, silent=True)
    return found


def _is_back(gap: Gap, new_path: int | None) -> bool:
    """Return whether the flow has its new path from this gap on."""
    if new_path is None:
        return gap.lost > 0
    return gap.path_after == new_path != gap.path_before
