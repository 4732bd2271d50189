# SPDX-License-Identifier: Apache-2.0
"""Check a bond's ports, rules and counters, and the place of its partner."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from tests.unit.plan.test_bench import host
from wirespeed.bench import frame_accounting
from wirespeed.bench.assembly.kinds import needs_of, sut_of, wiring_of
from wirespeed.bench.interface import HopCount, Way
from wirespeed.bench.switch.ovs_dpdk import counters
from wirespeed.bench.switch.ovs_dpdk.bonds import Bond, not_admitted, not_ready, parse_pdus
from wirespeed.bench.switch.ovs_dpdk.counters import Answers, Pdus, PortCount
from wirespeed.bench.switch.ovs_dpdk.instance import Instance
from wirespeed.bench.switch.ovs_dpdk.ports import inner_patch, partner_ports, program_ports
from wirespeed.bench.switch.ovs_dpdk.reading import CounterReader, missing
from wirespeed.bench.topology.wiring import GENERATOR, PARTNER, SWITCH, Cable, End
from wirespeed.model.plan.plan import Decision, VswitchPlan
from wirespeed.model.result.hop_counts import INGRESS, DropCause
from wirespeed.model.result.observation import DirectionCount
from wirespeed.model.study.injected import InjectedFault
from wirespeed.model.study.ovs import BondMode, Ovs
from wirespeed.model.study.spec import (
    Frames,
    Roles,
    Sut,
    Topology,
    Vswitch,
)
from wirespeed.plan.testbed.bench import plan_bench
from wirespeed.study.kinds.registry import Tables, broken_rules

PLAN = VswitchPlan(
    Decision((0,), ""), Decision((1,), ""), Decision((256,), ""), Decision(2, ""),
    Decision(512, ""), Decision(9000, ""),
)  # fmt: skip
RUN = PurePosixPath("/run/x")


def bonded(kind: str = "pvp", mode: BondMode = BondMode.BALANCE_TCP) -> Frames:
    return Frames(Topology(kind), sut=Sut(vswitch=Vswitch(ovs=Ovs(bond=mode))))


WIRED = wiring_of(bonded())
PORTS = program_ports(WIRED, PLAN, RUN)
BOND = Bond("wsb1", PORTS[0], inner_patch(PORTS[0]), BondMode.BALANCE_TCP)


def test_the_partner_lies_between_the_generator_and_the_switch() -> None:
    [path] = sut_of(bonded()).paths
    assert path == (
        "tg:east", "partner:east", "partner:east-bond", "switch:east", "switch:vnf0a", "vnf0:a",
        "vnf0:b", "switch:vnf0b", "switch:west", "partner:west-bond", "partner:west", "tg:west",
    )  # fmt: skip
    assert PARTNER not in {c.b.owner for c in wiring_of(Frames(Topology("pvp"))).cables}


def test_both_ends_of_a_link_have_the_same_socket_and_spread_flows_over_queues() -> None:
    outer = partner_ports(WIRED, PLAN, RUN)
    assert [port.name for port in outer] == ["east", "east-bond", "west", "west-bond"]
    for here, there in zip(PORTS[0].members, outer[1].members, strict=True):
        assert here.name == there.name
        assert f"iface={RUN}/{here.name}.sock" in here.options["dpdk-devargs"]
        assert f"path={RUN}/{here.name}.sock" in there.options["dpdk-devargs"]
        assert there.spreads
    words = BOND.add_command(9000, {})
    assert words[words.index("add-bond") :][:5] == [
        "add-bond", "wsb1", "east-links", "east0", "east1",
    ]  # fmt: skip
    assert "lacp=active" in words
    assert "other_config:bond-primary=east0" not in words
    backup = replace(BOND, mode=BondMode.ACTIVE_BACKUP).add_command(9000, {})
    assert "lacp=active" not in backup
    assert "other_config:bond-primary=east0" in backup


# As Open vSwitch 3.1.0 answers.
SHOWN = "---- east-links ----\nbond_mode: balance-tcp\n\nmember east0: enabled\n  active member\n" \
        "  may_enable: true\n\nmember east1: {}\n  may_enable: true\n"  # fmt: skip
LACP = (
    "---- east-links ----\n  status: active negotiated\n\n"
    "member: east0: current attached\n  actor state: activity collecting distributing\n\n"
    "  partner state: activity collecting distributing\n\n"
    "member: east1: {0} attached\n  actor state: activity {1}\n  partner state: {1}\n"
)
STATS = (
    "---- east-links statistics ----\n\nmember: east0:\n  TX PDUs: 8\n  RX PDUs: 7\n"
    "  RX Bad PDUs: 0\n\nmember: east1:\n  TX PDUs: 9\n  RX PDUs: 6\n"
)


def test_a_bond_is_ready_when_all_links_and_lacp_are() -> None:
    up, agreed = SHOWN.format("enabled"), LACP.format("current", "collecting distributing")
    assert not_ready(BOND, up, agreed) is None
    assert "east1" in (not_ready(BOND, SHOWN.format("disabled"), agreed) or "")
    assert "LACP" in (not_ready(BOND, up, LACP.format("current", "synchronized")) or "")
    assert "LACP" in (not_ready(BOND, up, "") or "")
    assert not_ready(replace(BOND, mode=BondMode.BALANCE_SLB), up, "") is None


def test_frames_of_lacp_are_no_frames_of_the_trial() -> None:
    counts = {port.number: PortCount(0, 0, 0, 0) for port in PORTS}
    first, second = (member.number for member in PORTS[0].members)
    counts |= {member.number: PortCount(0, 0, 0, 0) for member in PORTS[1].members}
    counts[first] = PortCount(1007, 508, 0, 0, {"ovs_tx_failure_drops": 5})
    counts[second] = PortCount(2006, 609, 0, 0)
    found = counters.hop(SWITCH, PORTS, Answers(counts, pdus=parse_pdus(STATS)))
    assert parse_pdus(STATS) == {"east0": Pdus(8, 7), "east1": Pdus(9, 6)}
    assert (found.entered["east"], found.left["east"]) == (3000, 1100)
    assert found.links["east0", Way.IN] == 1000
    assert found.links["east1", Way.OUT] == 600
    # The SUT could not send to the partner, which is no slowness of the SUT.
    assert found.drops["switch:east", DropCause.PARTNER_RING_FULL] == 5
    outer = partner_ports(WIRED, PLAN, RUN)
    counts = {link.number: PortCount(0, 0, 0, 0) for port in outer for link in port.links}
    counts[outer[1].members[0].number] = PortCount(0, 0, 0, 0, {"ovs_tx_failure_drops": 5})
    found = counters.hop(PARTNER, outer, Answers(counts))
    assert found.drops[INGRESS, DropCause.RX_RING_FULL] == 5


def test_frames_from_a_link_that_is_down_are_counted() -> None:
    dump = (
        "n_packets=10, n_bytes=1, priority=1,in_port=51 actions=NORMAL\n"
        "n_packets=700, n_bytes=1, priority=1,in_port=102 actions=NORMAL\n"
        "n_packets=300, n_bytes=1, priority=1,in_port=103 actions=NORMAL\n"
    )
    assert dict(not_admitted([BOND], dump, {51: PortCount(0, 960, 0, 0)})) == {"east": 40}
    assert dict(not_admitted([BOND], dump, {51: PortCount(0, 1000, 0, 0)})) == {"east": 0}


DUMPED = """OFPST_PORT reply (OF1.5): 5 ports
  port  51: rx pkts=0, bytes=0, drop=0, errs=0
           tx pkts=900, bytes=0, drop=0, errs=0
  port  102: rx pkts=700, bytes=0, drop=0, errs=0
           tx pkts=0, bytes=0, drop=0, errs=0
  port  103: rx pkts=300, bytes=0, drop=0, errs=0
           tx pkts=0, bytes=0, drop=0, errs=0
  port  3: rx pkts=0, bytes=0, drop=0, errs=0
           tx pkts=960, bytes=0, drop=0, errs=0
"""
RULES = (
    "n_packets=700, n_bytes=1, priority=1,in_port=102 actions=NORMAL\n"
    "n_packets=300, n_bytes=1, priority=1,in_port=103 actions=NORMAL\n"
)


class Answering:
    """An Open vSwitch whose bond credited 60 frames too few to the patch port behind it."""

    def ask(self, command: str, *_params: str) -> str:
        return "" if command != "lacp/show-stats" else "none"

    def ofctl(self, command: str, *, bridge: str) -> str:
        if bridge != BOND.bridge:
            return ""
        return DUMPED if command == "dump-ports" else RULES


def test_no_more_is_blamed_on_a_link_than_is_missing() -> None:
    vnf = next(port for port in PORTS if port.name == "vnf0a")
    instance = Instance(PLAN, (PORTS[0], vnf), bonds=(BOND,))
    reader = CounterReader(Answering(), instance)  # type: ignore[arg-type]
    seen = reader.read()
    assert missing(seen) == 0
    assert seen.drops["switch:east", DropCause.LINK_DOWN] == 1000 - 960


def test_frames_refused_by_the_partner_are_dropped_at_the_partner() -> None:
    refused = DirectionCount("east-west", 10, 10, 7, 0, 7, 0, 0, 0)
    counts = {GENERATOR: HopCount(GENERATOR, {"west": 7}, {"east": 7})}
    outer = Cable(End(GENERATOR, "east"), End(PARTNER, "east"))
    counts[PARTNER] = HopCount(PARTNER, {"east": 7}, {"west": 7})
    back = Cable(End(GENERATOR, "west"), End(PARTNER, "west"))
    [drop] = frame_accounting.drops(counts, [outer, back], [refused])
    assert (drop.hop, drop.cause, drop.frames) == (PARTNER, DropCause.PARTNER_RING_FULL, 3)
    direct = Cable(End(GENERATOR, "east"), End(SWITCH, "east"))
    found = frame_accounting.drops({GENERATOR: HopCount(GENERATOR), SWITCH: HopCount(SWITCH)},
                                   [direct], [replace(refused, received=0)])  # fmt: skip
    assert (INGRESS, DropCause.RX_RING_FULL) in {(d.hop, d.cause) for d in found}


@pytest.mark.parametrize(("cores", "own"), [(2, False), (3, True), (8, True)])
def test_the_partner_has_a_core_where_there_is_one(cores: int, own: bool) -> None:
    frames = bonded("p2p")
    plan = plan_bench(host(cores=cores), frames, needs_of(frames)).hosts[0]
    assert plan.vswitch is not None
    assert plan.generator is not None
    assert plan.partner is not None
    [cpu] = plan.partner.pmd_cpus.value
    assert (cpu not in {*plan.vswitch.pmd_cpus.value, *plan.generator.cpus.value}) is own
    assert ("a dedicated core" in plan.partner.pmd_cpus.because) is own
    assert set(plan.vswitch.pmd_cpus.value).isdisjoint(plan.generator.cpus.value)
    alone = replace(frames, sut=Sut())
    pages = plan_bench(host(cores=cores), alone, needs_of(alone)).hosts[0].huge_pages.value
    of_each = plan.vswitch.socket_memory_mib.value[0] // 2
    assert plan.huge_pages.value[0].count == pages[0].count + of_each


@pytest.mark.parametrize(
    ("frames", "says"),
    [
        (replace(bonded(), hosts=Roles("a", "b")), "leave out [hosts]"),
        (
            replace(bonded(mode=BondMode.BALANCE_SLB), fault=InjectedFault("bond-link-down")),
            'needs sut.vswitch.ovs.bond = "active-backup" or "balance-tcp"',
        ),
        (
            replace(bonded(), fault=InjectedFault("bond-link-down", None, "vnf0b")),
            "must be one of east",
        ),
    ],
)
def test_a_point_that_cannot_be_bonded_is_refused(frames: Frames, says: str) -> None:
    tables = Tables(frames.topology, sut=frames.sut, hosts=frames.hosts, fault=frames.fault)
    assert any(says in str(fault) for fault in broken_rules(tables))
