# SPDX-License-Identifier: Apache-2.0
"""Look up published TCP rates of S0 and S2.

S0: M. Siddiqui et al., Implementing a TCP Broadband Speed Test in the Cloud for Use in an NFV
Infrastructure, Intel 2016, "Results" and figures 5 to 7. iPerf3 ran in virtual machines on two Xeon
E5-2680 v2 with X520-DA2 (10 GbE), Open vSwitch 2.5.90, DPDK 16.04. Rates depend on the number of
streams (1 to 12), hence lowest and highest. Its middle step combines a newer guest kernel, an
upgraded stack and TSO.

S2: SR-IOV for NFV Solutions, Intel 2017, sections 3.1 and 5.1. Four netperf sessions (TCP_STREAM,
"-m SIZE") ran from one virtual machine over 40 GbE (XL710). It has no TCP_RR.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.study.tcp import Tcp


class Tuning(StrEnum):
    """Cumulative steps; S0 has no rate for the last."""

    BASELINE = "baseline"
    OFFLOADS = "TSO, GSO and GRO"
    QUEUES = "several queues"
    MTU = "jumbo MTU"


@dataclass(frozen=True, slots=True)
class PublishedStep:
    """Rates of one step."""

    lowest_bps: float
    highest_bps: float
    said: float | None = None
    """Gain over the baseline in the paper's own words, where it gives one."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One of S0's scenarios, with its source."""

    name: str
    source: str
    steps: dict[Tuning, PublishedStep]

    def figure(self, step: Tuning, done: Collection[Tuning]) -> PublishedStep | None:
        """Return the published rates of a step; None where steps that it builds on are missing."""
        before = list(self.steps)[: list(self.steps).index(step)] if step in self.steps else []
        return self.steps.get(step) if set(before) <= set(done) else None

    def gain(self, step: Tuning) -> float | None:
        """Return the step's gain: its highest rate over the highest of the baseline."""
        if step not in self.steps:
            return None
        return self.steps[step].highest_bps / self.steps[Tuning.BASELINE].highest_bps


EXTERNAL = Scenario(
    "five external clients", "S0 scenario 1, figure 5",
    {
        Tuning.BASELINE: PublishedStep(3.87e9, 3.87e9),
        Tuning.OFFLOADS: PublishedStep(9.35e9, 9.35e9, said=2.4),
    },
)  # fmt: skip
TWO_HOSTS = Scenario(
    "two hosts, 10 Gbps between them", "S0 scenario 2, figure 6",
    {
        Tuning.BASELINE: PublishedStep(4.6e9, 5.5e9),
        Tuning.OFFLOADS: PublishedStep(9.35e9, 9.35e9, said=1.7),
        Tuning.QUEUES: PublishedStep(9.35e9, 9.35e9, said=1.7),
    },
)  # fmt: skip
ONE_HOST = Scenario(
    "both on one host", "S0 scenario 3, figure 7",
    {
        Tuning.BASELINE: PublishedStep(3.9e9, 3.9e9),
        Tuning.OFFLOADS: PublishedStep(22e9, 33.5e9),
        Tuning.QUEUES: PublishedStep(45e9, 45e9, said=10.0),
    },
)  # fmt: skip


SCENARIOS = (EXTERNAL, TWO_HOSTS, ONE_HOST)


def scenario(tcp: Tcp, has_vswitch: bool) -> Scenario | None:
    """Return the scenario of S0 that the point repeats; None without a vSwitch."""
    if not has_vswitch:
        return None
    if tcp.clients == 5:
        return EXTERNAL
    if tcp.clients == 1 and tcp.wire_bps == 10e9:
        return TWO_HOSTS
    return ONE_HOST if tcp.clients == 1 and tcp.wire_bps is None else None


@dataclass(frozen=True, slots=True)
class NetperfRow:
    """Throughput of four sessions in Gbps, by interface, in the order of NETPERF_INTERFACES."""

    message_bytes: int
    newer: tuple[float, float, float]
    """E5-2699 v4, Open vSwitch 2.6.90, DPDK 16.11."""
    older: tuple[float, float, float]
    """E5-2699 v3 and earlier releases."""


NETPERF_INTERFACES = ("virtio", "vhost-user", "SR-IOV")
NETPERF_SOURCE = "S2 (2017), section 5.1, figures 17 and 18"
NETPERF = (
    NetperfRow(64, (5.35, 4.80, 6.31), (5.35, 4.80, 6.13)),
    NetperfRow(128, (9.16, 8.94, 11.99), (8.80, 7.75, 11.69)),
    NetperfRow(256, (16.25, 15.68, 21.45), (13.63, 10.71, 21.45)),
    NetperfRow(512, (19.71, 18.45, 38.72), (16.40, 13.33, 37.72)),
    NetperfRow(1024, (35.36, 34.66, 38.79), (26.39, 15.72, 38.35)),
    NetperfRow(1518, (37.54, 36.85, 39.15), (35.42, 16.22, 38.98)),
    NetperfRow(65536, (38.88, 38.88, 39.22), (37.77, 18.23, 39.25)),
)
