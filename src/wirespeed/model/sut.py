# SPDX-License-Identifier: Apache-2.0
"""What is measured at a point, in words? It is stored as the point begins."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SutDescription:
    """Of the system under test.

    kind: FD.io CSIT's dut_type, e.g. "ovs-dpdk". name: for people. entrance: what its first ring
    ("sut-ingress" among the drops) is, e.g. "the SUT's first ring (the SUT polls it)".
    reference: it is there to check the measurement. limits_itself: it was told which rate to
    forward at, so that nothing else limits it. more_cpus: the keys of a study that give it more
    CPUs, if there are such. paths: the ports that the frames of each stream pass, in order, from
    the generator's to the generator's, e.g. "tg:east", "switch:east", "switch:west", "tg:west"; a
    cable joins the first to the second, a hop the second to the third. None where that is not
    known, as with an external SUT.
    """

    kind: str
    name: str
    entrance: str
    reference: bool = False
    limits_itself: bool = False
    more_cpus: str | None = None
    paths: tuple[tuple[str, ...], ...] = ()
