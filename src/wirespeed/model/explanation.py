# SPDX-License-Identifier: Apache-2.0
"""What limits a measured point, how is that known, and what would change it?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# What a key of a study may be set to.
KeyValue = bool | int | float | str | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EvidenceFigure:
    """A figure that an explanation rests on. source: where it was read, e.g. "trial 7"."""

    name: str
    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A key of a study, e.g. "sut.vswitch.rx_queues", and the value that a change gives it."""

    key: str
    value: KeyValue


@dataclass(frozen=True, slots=True)
class Proposal:
    """What to change, in one sentence. setting: the key or command that does it, if one does.

    keys: the same for programs, where a study of this host can try it. cannot_try: why it cannot
    try all of it, and what to do instead; None where it can.
    """

    change: str
    setting: str | None = None
    keys: tuple[KeyChange, ...] = ()
    cannot_try: str | None = None


class GainKind(StrEnum):
    """How sure an expected gain is."""

    MEASURED = "measured"
    """This point was measured with the change and without it; the interval is in `estimated`."""
    PREDICTED = "predicted"
    """A model of this host says so."""
    BOUND = "at most"
    """Nothing that was measured lets it be more; it may be nothing."""


@dataclass(frozen=True, slots=True)
class ExpectedGain:
    """How much a proposal should bring. estimated: how the value was found."""

    value: float
    unit: str
    estimated: str
    kind: GainKind = GainKind.BOUND


@dataclass(frozen=True, slots=True)
class Explanation:
    """One thing that limits a point.

    limit: a short word for programs, e.g. "vhost_tx_ring_full". sentence: the same for people.
    gain: None where it is not known. hop: where it is, as drops name it ("switch:east", "vnf0",
    "tg" for the generator); None where it is nowhere in particular.
    """

    limit: str
    sentence: str
    evidence: tuple[EvidenceFigure, ...] = ()
    proposal: Proposal | None = None
    gain: ExpectedGain | None = None
    hop: str | None = None


class Resource(StrEnum):
    """What the rate of a point may be limited by."""

    SWITCH = "switch CPU"
    FUNCTION = "VNF CPU"
    GENERATOR = "generator"
    LINK = "link"
    COPIES = "copies"
    QUEUES = "queue depth"
    BALANCE = "balance of queues"
    SCHEDULING = "scheduling"
    STEAL = "steal"


class ResourceState(StrEnum):
    """disturbs: it took time from the trials, which is left out of undisturbed figures."""

    LIMITS = "limits"
    DISTURBS = "disturbs"
    HAS_ROOM = "has room"
    MEASURED = "measured"
    NOT_MEASURED = "not measured"
    ABSENT = "none here"


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """How much a point uses of one resource, in one sentence and as figures."""

    resource: Resource
    state: ResourceState
    sentence: str
    evidence: tuple[EvidenceFigure, ...] = ()
