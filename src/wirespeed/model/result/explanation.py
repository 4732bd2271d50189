# SPDX-License-Identifier: Apache-2.0
"""Define explanations: a limit of a measured point, its evidence and the proposed change."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# Types of value that a study key may have.
KeyValue = bool | int | float | str | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EvidenceFigure:
    """A value that supports an explanation."""

    name: str
    value: float
    unit: str
    source: str
    """Place where it was read, e.g. "trial 7"."""


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A study key, e.g. "sut.vswitch.rx_queues", and its proposed value."""

    key: str
    value: KeyValue


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change to make, in one sentence."""

    change: str
    setting: str | None = None
    """Key or command that makes the change; None if there is none."""
    keys: tuple[KeyChange, ...] = ()
    """The change as study keys, as far as a study on this host can try it."""
    cannot_try: str | None = None
    """Reason why a study cannot try the whole change, and the alternative; None if it can."""


class GainKind(StrEnum):
    """Certainty of an expected gain."""

    MEASURED = "measured"
    """The point was measured with and without the change; `estimated` has the interval."""
    PREDICTED = "predicted"
    """A model of this host predicts it."""
    BOUND = "at most"
    """Upper bound from the measurements; the gain may be zero."""


@dataclass(frozen=True, slots=True)
class ExpectedGain:
    """Expected gain of a proposal."""

    value: float
    unit: str
    estimated: str
    """Method that gave the value."""
    kind: GainKind = GainKind.BOUND


@dataclass(frozen=True, slots=True)
class Explanation:
    """One limit of a point."""

    limit: str
    """Short word for programs, e.g. "vhost_tx_ring_full"."""
    sentence: str
    """The limit in a sentence for people."""
    evidence: tuple[EvidenceFigure, ...] = ()
    proposal: Proposal | None = None
    gain: ExpectedGain | None = None
    """None if unknown."""
    hop: str | None = None
    """Hop as in drops ("switch:east", "vnf0", "tg" for the generator); None if the limit has no
    place."""


class Resource(StrEnum):
    """Resources that may limit the rate of a point."""

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
    """State of a resource at a point."""

    LIMITS = "limits"
    DISTURBS = "disturbs"
    """It took time from the trials. Rates over clean time exclude that time."""
    HAS_ROOM = "has room"
    MEASURED = "measured"
    NOT_MEASURED = "not measured"
    ABSENT = "none here"


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """Use of one resource at a point, in a sentence and in values."""

    resource: Resource
    state: ResourceState
    sentence: str
    evidence: tuple[EvidenceFigure, ...] = ()
