# SPDX-License-Identifier: Apache-2.0
"""Describe how a router converged after events, by the frames that arrived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirespeed.model.result.explanation import EvidenceFigure
from wirespeed.model.result.outcome import Quantity, Verdict

# Phases by length; the first is a limit of the router's daemons, the second of its forwarding.
PROTOCOL, FORWARDING = "routing_protocol", "forwarding_table"


@dataclass(frozen=True, slots=True)
class Spread:
    """Distribution over prefixes, in ms."""

    p50_ms: float
    p99_ms: float
    max_ms: float


@dataclass(frozen=True, slots=True)
class SlowPrefix:
    """A prefix that was unreachable for long."""

    prefix: str
    blackout_ms: float
    rerouted_ms: float | None
    """Time from the event to its first frame by the new path; None if there was none."""


@dataclass(frozen=True, slots=True)
class OwnBlackout:
    """A prefix that was unreachable while most others were not."""

    prefix: str
    own_ms: float


@dataclass(frozen=True, slots=True)
class ConvergenceRun:
    """One event."""

    event: str
    prefixes: int
    """Tracked prefixes."""
    interval_ms: float
    """Time between two frames to a prefix: the resolution of all times of prefixes."""
    interrupted: int
    """Prefixes that lost frames."""
    rerouted: int
    """Prefixes with frames by the new path."""
    unreachable: int
    """Prefixes without frames at the end of the traffic."""
    blackout: Spread
    """Time in which no frame to a prefix arrived, over all tracked prefixes; 0 without loss."""
    lost: int
    """Frames that did not arrive by a path that counts, misrouted ones included."""
    misrouted: int
    """Frames that arrived for no next hop."""
    looped: int
    """Frames that passed the router more than once."""
    duplicated: int
    blocked_ms: float
    """Lost frames over the offered rate: the time for which all prefixes together were blocked."""
    linear_ms: float
    """Twice that: the time to reroute all prefixes if they are rerouted one after the other."""
    slowest: tuple[SlowPrefix, ...]
    """The ten prefixes that were unreachable longest."""
    reroute: Spread | None = None
    """Time from the event to the first frame by the new path; None if no prefix has one."""
    protocol: Spread | None = None
    """Time from the event to the kernel's notification of the prefix; None if it sent none."""
    forwarding: Spread | None = None
    """Time from the notification to the first frame by the new path. Negative where the frame came
    before the notification was read."""
    outliers: int = 0
    """Prefixes that were unreachable for more than `outlier_ms` while most others were not."""
    outlier_ms: float = 0.0
    """Upper quartile of these times, plus three interquartile ranges, at least two intervals."""
    longest_own: tuple[OwnBlackout, ...] = ()
    """The ten outliers that were unreachable longest while most others were not."""


@dataclass(frozen=True, slots=True)
class ConvergenceFigure:
    """One type of event over all runs: medians, but the largest of max_ms and of counts."""

    event: str
    runs: int
    blackout: Spread
    lost: int
    misrouted: int
    looped: int
    duplicated: int
    unreachable: int
    blocked_ms: float
    linear_ms: float
    reroute: Spread | None = None
    protocol: Spread | None = None
    forwarding: Spread | None = None
    outliers: int = 0
    """Prefixes that stood out from the others of their run."""

    @property
    def limited_by(self) -> str:
        """Return the longer phase; "unknown" without notifications."""
        if self.protocol is None or self.forwarding is None:
            return "unknown"
        return PROTOCOL if self.protocol.p50_ms >= self.forwarding.p50_ms else FORWARDING


@dataclass(frozen=True, slots=True)
class ConvergenceResult:
    """Result of a point whose router converged."""

    figures: tuple[ConvergenceFigure, ...]
    """One for each type of event."""
    runs: tuple[ConvergenceRun, ...]
    rate_fps: float

    @property
    def total(self) -> Quantity:
        """Return the longest blackout that 99% of the prefixes did not exceed."""
        return _total([figure.blackout.p99_ms for figure in self.figures])

    @property
    def clean(self) -> Quantity | None:
        """Return None: events are not repeated until time is clean."""
        return None

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(_verdict(figure) for figure in self.figures)

    @staticmethod
    def stored_total(figures: Sequence[Mapping[str, Any]]) -> Quantity:
        """Return the total of a stored result. figures: its field of this name."""
        return _total([figure["blackout"]["p99_ms"] for figure in figures])


def _total(p99_ms: Sequence[float]) -> Quantity:
    return Quantity("blackout p99, worst event", max(p99_ms), "ms")


def _verdict(figure: ConvergenceFigure) -> Verdict:
    phases = (("protocol", figure.protocol), ("forwarding", figure.forwarding))
    evidence = [EvidenceFigure("blackout p99", figure.blackout.p99_ms, "ms", "flow gaps")]
    evidence += [
        EvidenceFigure(f"{name} p50", spread.p50_ms, "ms", "netlink and flow gaps")
        for name, spread in phases
        if spread is not None
    ]
    words = {
        PROTOCOL: "most of the time passes until the kernel has the new route",
        FORWARDING: "most of the time passes from the kernel's route to the first frame by it",
        "unknown": "the kernel sent no notification for the prefixes",
    }
    sentence = f"After {figure.event}, {words[figure.limited_by]}."
    return Verdict(figure.limited_by, sentence, tuple(evidence))
