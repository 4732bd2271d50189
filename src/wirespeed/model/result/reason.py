# SPDX-License-Identifier: Apache-2.0
"""Define the reasons for which time of a trial does not count: evidence, colour and blame.

A reason is described here alone: the gate finds its windows, reports draw it and name it, and
explainers blame it by this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from wirespeed.model.result.evidence import Disturbance, DisturbanceKind
from wirespeed.model.result.explanation import Resource


class Reason(StrEnum):
    """Reason why a window does not count. One with several counts for the first of these."""

    CORE_SHARED = "core shared"
    GENERATOR_STOPPED = "generator stopped"
    SUT_STOPPED = "SUT stopped"
    GENERATOR_LATE = "generator late"
    CPUS_MOVED = "CPUs moved"
    INTERRUPTED = "interrupts"
    THERMAL_THROTTLING = "thermal throttling"
    NOT_DRAINED = "not yet drained"

    @property
    def about(self) -> About:
        return _ABOUT[self]


@dataclass(frozen=True, slots=True)
class Shown:
    """Disturbances that show a reason."""

    kind: DisturbanceKind
    role: str | None = None
    """Role of the affected thread; None for any."""


@dataclass(frozen=True, slots=True)
class Blame:
    """Explanation that names what took the time."""

    limit: str
    """Value of Explanation.limit."""
    words: str
    """The same in at most 16 characters, for tables."""
    resource: Resource | None = None
    """Resource that it makes short."""
    neighbour: bool = False
    """Other programs or guests took the time."""


@dataclass(frozen=True, slots=True)
class About:
    """Meaning, evidence and colour of a reason."""

    meaning: str
    """Condition under which a window does not count."""
    evidence: str
    """Source of the evidence, in words."""
    shown: Shown | None
    """None where samples show it, not disturbances."""
    colour: str
    """Name of its colour in a report's theme."""
    blame: Blame | None = None
    """None for a consequence, or where nobody is to blame."""


_ABOUT: Final[Mapping[Reason, About]] = {
    Reason.CORE_SHARED: About(
        "a fixed piece of work took over 1.10 times its best: something else used the core",
        "the SMT contention probe, every 2 ms on each polling CPU",
        None, "s1", Blame("core_contention", "SUT core shared", Resource.SCHEDULING, True),
    ),
    Reason.GENERATOR_STOPPED: About(
        "a thread of the generator did not run for longer than max(100 \N{MICRO SIGN}s, a quarter "
        "of what its ring can hold at this load)",
        "poll gaps, without the usual duration of a round",
        Shown(DisturbanceKind.STOPPED, "generator"), "s4",
        Blame("generator_interrupted", "generator paused", Resource.GENERATOR, True),
    ),
    Reason.SUT_STOPPED: About(
        "a thread of the SUT did not run for as long",
        "poll gaps of wirespeed's own threads; the kernel's record of context switches for others",
        Shown(DisturbanceKind.STOPPED, "sut"), "s3",
        Blame("sut_interrupted", "SUT interrupted", Resource.SCHEDULING, True),
    ),
    Reason.GENERATOR_LATE: About(
        "the generator gave frames up, or offered a burst beyond its schedule",
        "its schedule",
        Shown(DisturbanceKind.LATE), "s5",
        Blame("generator_slow", "generator", Resource.GENERATOR),
    ),
    Reason.CPUS_MOVED: About(
        "the hypervisor moved the CPUs to other cores during the trial",
        "the CPU placement probe, before and after",
        Shown(DisturbanceKind.MOVED), "s2",
    ),
    Reason.INTERRUPTED: About(
        "interrupts of one source took much of a polling CPU's time during the trial",
        "the kernel's interrupt counts, before and after",
        Shown(DisturbanceKind.INTERRUPTED), "s6", Blame("interrupts", "interrupts"),
    ),
    Reason.THERMAL_THROTTLING: About(
        "the processor was too hot and lowered the clock of a polling CPU during the trial",
        "the kernel's counts of throttling (core_throttle_count, package_throttle_count), before "
        "and after; virtual machines have none",
        Shown(DisturbanceKind.THROTTLED), "s7",
        Blame("thermal_throttling", "CPU too hot", Resource.SCHEDULING),
    ),
    Reason.NOT_DRAINED: About(
        "the queues still hold frames from a disturbance",
        "latency at the begin of the window", None, "invalid",
    ),
}  # fmt: skip

BLAMES: Final = tuple(reason.about.blame for reason in Reason if reason.about.blame is not None)
NEIGHBOURS: Final = frozenset(
    reason for reason in Reason if reason.about.blame is not None and reason.about.blame.neighbour
)


def reason_of(disturbance: Disturbance) -> Reason:
    """Return the reason that a disturbance shows."""
    return next(
        reason
        for reason in Reason
        if (shown := reason.about.shown) is not None
        and shown.kind is disturbance.kind
        and shown.role in (None, disturbance.role)
    )
