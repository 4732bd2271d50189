# SPDX-License-Identifier: Apache-2.0
"""Define the fault matrix: faults, points, strengths, and the explanation to expect."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from benchmarks.shared.point import point_of

from wirespeed.bench.fault.inject import place_of
from wirespeed.model.study.injected import NO_FAULT, InjectedFault
from wirespeed.model.study.spec import Frames

# Far below what two shared cores carry, so that a healthy path loses nothing, and enough that what
# is not taken fills a ring within a trial. One of each range is drawn for each bench; functions in
# parallel get so much each.
LOADS_FPS = ((35_000, 45_000), (55_000, 65_000), (80_000, 100_000))
SWITCHED = ("p2p", "pvp", "chain")
WITH_VNFS = ("pvp", "chain", "parallel")
WITH_GENERATOR = ("wire", "p2p", "pvp")
SUT, HOST, GENERATOR = "SUT", "host", "generator"
ANYWHERE = "*"
PLACE = "{place}"


@dataclass(frozen=True, slots=True)
class Case:
    """A kind of fault. limit, hop: what must be named first; hop: PLACE stands for where it was
    caused. whose: whose fault it is. strength: its range. settings: further ones of the study.
    candidate: no evidence of a trial tells it from what harms nobody: it must be named, if not
    first."""

    kind: str
    limit: str
    hop: str
    whose: str
    topologies: tuple[str, ...]
    strength: tuple[float, float] | None = None
    settings: tuple[str, ...] = ()
    candidate: bool = False


_VLANS = (
    "sut.vswitch.ovs.bridges=2", "sut.vswitch.ovs.vlan=rewrite", "traffic.encapsulation=vlan",
    "traffic.frame=128",
)  # fmt: skip
_BONDED = ("sut.vswitch.ovs.bond=balance-tcp", "traffic.flow_field=src_ip")
CASES = (
    Case("slow-vnf", "slow_vnf", PLACE, SUT, WITH_VNFS, (5_000, 15_000)),
    Case("stopped-vnf", "vnf_stopped", PLACE, SUT, WITH_VNFS, (0.3, 1.0)),
    Case("crashing-vnf", "vnf_restarted", PLACE, SUT, WITH_VNFS, (0.1, 0.8)),
    Case("few-mbufs", "vnf_buffers", PLACE, SUT, WITH_VNFS, (2_100, 2_900)),
    Case("missing-flow", "no_flow", f"switch:{PLACE}", SUT, SWITCHED),
    Case("small-mtu", "mtu", f"switch:{PLACE}", SUT, SWITCHED, (20, 300),
         ("traffic.frame=512",)),
    Case("wrong-vlan", "wrong_vlan", "switch:patch", SUT, SWITCHED, None, _VLANS),
    Case("bond-link-down", "link_down", f"switch:{PLACE}", SUT, SWITCHED, (0.05, 0.2), _BONDED),
    Case("ingress-policer", "policer", f"switch:{PLACE}", SUT, SWITCHED, (2_000, 25_000)),
    Case("egress-policer", "egress_policer", f"switch:{PLACE}", SUT, SWITCHED, (2_000, 25_000)),
    Case("small-ring", "small_ring", ANYWHERE, SUT, SWITCHED, (64, 128)),
    Case("one-queue", "queue_imbalance", "switch:east", SUT, SWITCHED, None,
         ("sut.vswitch.rx_queues=2",)),
    Case("upcall-storm", "upcalls", "switch", SUT, SWITCHED, (20_000, 200_000)),
    Case("revalidator-churn", "flows_deleted", "switch", SUT, SWITCHED, (8, 40)),
    Case("pmd-core-hog", "pmd_core_shared", "switch", HOST, SWITCHED, (0.15, 0.8)),
    Case("slow-generator", "generator_slow", "tg", GENERATOR, WITH_GENERATOR, (3, 10)),
    Case("stolen-generator", "generator_core_shared", "tg", HOST, WITH_GENERATOR, (0.15, 0.8)),
    Case("pmd-off-node", "pmd_off_node", "switch", SUT, SWITCHED),
    Case("memory-hog", "memory_contention", "memory", HOST, SWITCHED, (0.5, 0.9), candidate=True),
)  # fmt: skip
HEALTHY = Case(NO_FAULT, "", ANYWHERE, "", ("p2p", "pvp", "chain", "wire"))

# Whose fault an explanation says it is. Other limits are no faults: bounds of the search, costs.
WHOSE: Mapping[str, str] = {
    **{case.limit: case.whose for case in CASES},
    "upcall": SUT, "rx_ring_full": SUT, "vhost_tx_ring_full": SUT, "vnf_tx_ring_full": SUT,
    "vnf_ended": SUT, "not_connected": SUT, "unknown": SUT, "unaccounted": SUT,
    "sut_interrupted": HOST, "steal": HOST, "generator_interrupted": HOST,
    "core_contention": HOST, "smt_siblings": HOST, "core_to_core_latency": HOST,
    "generator": GENERATOR, "tg_rx_ring_full": GENERATOR,
    "partner_ring_full": GENERATOR,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setting:
    """One bench of the matrix: a case at a topology, with what was drawn for it."""

    case: Case
    topology: str
    frames: Frames
    loads_fps: tuple[float, ...]

    @property
    def hop(self) -> str:
        """Places at which it must be found."""
        if self.frames.fault is None or PLACE not in self.case.hop:
            return self.case.hop
        return self.case.hop.replace(PLACE, place_of(self.frames))


def drawn(case: Case, topology: str, chance: random.Random) -> Setting:
    """With strength, place, moments and loads by chance."""
    study = "quickstart"
    settings = [f"topology.kind={topology}", "traffic.frame=64", "search.kind=fixed",
                "search.load_fps=40000", "search.trial_s=0.5", "search.extension=1",
                "search.latency=false"]  # fmt: skip
    if topology in ("chain", "parallel"):
        settings.append("topology.vnfs=2")
    frames = point_of(study, *settings, *case.settings)
    each_gets = 2 if topology == "parallel" else 1
    loads_fps = tuple(float(each_gets * chance.randrange(*each)) for each in LOADS_FPS)
    seed = chance.randrange(1 << 16)
    strength = None if case.strength is None else chance.uniform(*case.strength)
    if case.kind != NO_FAULT:
        frames = replace(frames, fault=InjectedFault(case.kind, strength, None, seed))
    return Setting(case, topology, frames, loads_fps)
