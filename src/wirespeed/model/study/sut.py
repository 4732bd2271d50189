# SPDX-License-Identifier: Apache-2.0
"""Describe in words what a point measures; stored when the point begins."""

from __future__ import annotations

from dataclasses import dataclass


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
