# SPDX-License-Identifier: Apache-2.0
"""Describe in words what a point measures; stored when the point begins."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SutCause:
    """Cause of drops in the words of one type of SUT, with its own change against it."""

    cause: str
    """Value of DropCause."""
    meaning: str = ""
    """Clause that follows the place; empty: as for any SUT."""
    change: str = ""
    """Proposed change; empty: none."""
    setting: str | None = None
    """Study keys, or the host's setting, that the change concerns."""
    hop: str = ""
    """Hop at which it is so; empty: at any."""


@dataclass(frozen=True, slots=True)
class SutDescription:
    """Description of the system under test."""

    kind: str
    """FD.io CSIT's dut_type, e.g. "ovs-dpdk"."""
    name: str
    """Name for people."""
    entrance: str
    """Name of its first ring ("sut-ingress" in drops), e.g. "the SUT's first ring (the SUT polls
    it)"."""
    reference: bool = False
    """It is a reference that checks the measurement."""
    limits_itself: bool = False
    """It forwards at a configured rate, so nothing else limits it."""
    more_cpus: str | None = None
    """Study keys that give it more CPUs; None if there are none."""
    paths: tuple[tuple[str, ...], ...] = ()
    """Ports that the frames of each stream pass, from generator to generator, e.g. "tg:east",
    "switch:east", "switch:west", "tg:west". Cables and hops join them in turn, a cable first. Empty
    if unknown, as with an external SUT."""
    causes: tuple[SutCause, ...] = ()
    """Causes of drops that mean something else here than at any SUT."""
