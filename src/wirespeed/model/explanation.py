# SPDX-License-Identifier: Apache-2.0
"""What limits a measured point, how is that known, and what would change it?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EvidenceFigure:
    """A figure that an explanation rests on. source: where it was read, e.g. "trial 7"."""

    name: str
    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What to change, in one sentence. setting: the key or command that does it, if one does."""

    change: str
    setting: str | None = None


@dataclass(frozen=True, slots=True)
class ExpectedGain:
    """How much a proposal should bring. estimated: how the value was found."""

    value: float
    unit: str
    estimated: str


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
