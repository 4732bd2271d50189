# SPDX-License-Identifier: Apache-2.0
"""Test the values that keys get, and the reasons for keys without a value."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.fake_rig import FACTS, PLAN, VSWITCH
from wirespeed.explain.changes import NEXT, Refusal, with_values
from wirespeed.explain.interface import Measured
from wirespeed.model.host.facts import Cpu
from wirespeed.model.plan.plan import Decision, Plan
from wirespeed.model.result.explanation import Explanation, KeyChange, Proposal
from wirespeed.model.result.result import SearchResult
from wirespeed.model.study.ovs import Ovs, OvsPorts
from wirespeed.model.study.spec import (
    Frames,
    KernelDriver,
    Search,
    Sut,
    TcpStreams,
    Topology,
    Traffic,
    Vnf,
    Vswitch,
)
from wirespeed.model.study.sut import SutDescription
from wirespeed.model.study.tcp import Tcp
from wirespeed.study.expand import parameters, set_key
from wirespeed.study.validate import validate_point

SUT = SutDescription("ovs-dpdk", "Open vSwitch", "its first ring")
RESULT = SearchResult("quick", False, ())


def plan(*pmd_cpus: int) -> Plan:
    vswitch = replace(VSWITCH, pmd_cpus=Decision(pmd_cpus, "a test says so"))
    return Plan((replace(PLAN.hosts[0], vswitch=vswitch),))


def measured(workload: Frames | TcpStreams, pmds: tuple[int, ...] = (1,)) -> Measured:
    return Measured(SUT, RESULT, workload=workload, plan=plan(*pmds), host=FACTS)


def proposed(point: Measured, setting: str | None, limit: str = "rx_ring_full") -> Proposal:
    found = with_values(point, Explanation(limit, "It is.", proposal=Proposal("Do it.", setting)))
    assert found.proposal is not None
    return found.proposal


SWITCHED = Frames(Topology("pvp"), sut=Sut(Vswitch(descriptors=512)))


def on_sockets(driver: KernelDriver = KernelDriver.AF_PACKET) -> Frames:
    return Frames(sut=Sut(Vswitch(ovs=Ovs(ports=OvsPorts.KERNEL), driver=driver)))


@pytest.mark.parametrize(
    ("key", "workload", "value"),
    [
        ("sut.vswitch.rx_queues", SWITCHED, 2),
        ("sut.vswitch.descriptors", SWITCHED, 1024),
        ("sut.vswitch.pmd_cpus", SWITCHED, (1, 0)),
        ("sut.vswitch.mtu", SWITCHED, 46),
        ("sut.vswitch.ovs.ports", on_sockets(), "vhost-user"),
        ("sut.vnf.workers", Frames(sut=Sut(vnf=Vnf("bng", workers=3))), 6),
        ("traffic.flows", Frames(traffic=Traffic(flows=640)), 64),
        ("traffic.link_bps", SWITCHED, 25e9),
        ("search.max_load_fps", Frames(search=Search(max_load_fps=1e6)), 2e6),
        ("sriov.spoofchk", Frames(Topology("sriov")), False),
        ("tcp.offloads", TcpStreams(Tcp(offloads=False)), True),
        ("tcp.mtu", TcpStreams(Tcp()), 9000),
        ("tcp.clients", TcpStreams(Tcp(clients=4)), 2),
        ("tcp.window_bytes", TcpStreams(Tcp(window_bytes=65536)), 262144),
    ],
)
def test_a_key_gets_its_next_value(key: str, workload: Frames | TcpStreams, value: object) -> None:
    assert NEXT[key](measured(workload)) == value


@pytest.mark.parametrize("key", NEXT)
def test_every_key_is_one_of_a_study(key: str) -> None:
    """A key that no study has would be a change that nobody can make."""
    raw = parameters(TcpStreams(Tcp()) if key.startswith("tcp.") else SWITCHED)
    set_key(raw, key, "nonsense")
    _, faults = validate_point(raw)
    assert not any("unknown key" in str(fault) for fault in faults)
    assert any(fault.key == key for fault in faults)


@pytest.mark.parametrize(
    ("key", "workload"),
    [
        ("sut.vswitch.rx_queues", Frames(sut=Sut(Vswitch(rx_queues=16)))),
        ("sut.vswitch.descriptors", Frames(sut=Sut(Vswitch(descriptors=4096)))),
        ("sut.vswitch.ovs.ports", SWITCHED),
        ("sut.vswitch.ovs.ports", on_sockets(KernelDriver.AF_XDP)),
        ("traffic.flows", Frames(traffic=Traffic(flows=1))),
        ("traffic.link_bps", Frames(traffic=Traffic(link_bps=400e9))),
        ("traffic.link_bps", Frames(Topology("external"), sut=Sut(ports=("a", "b")))),
        ("search.max_load_fps", SWITCHED),
        ("tcp.offloads", TcpStreams(Tcp())),
        ("tcp.mtu", TcpStreams(Tcp(mtu=9000))),
        ("tcp.clients", TcpStreams(Tcp())),
        ("tcp.window_bytes", TcpStreams(Tcp())),
        ("tcp.mtu", SWITCHED),
        ("traffic.flows", TcpStreams(Tcp())),
    ],
)
def test_a_key_that_is_at_its_end_has_a_reason(key: str, workload: Frames | TcpStreams) -> None:
    assert isinstance(NEXT[key](measured(workload)), Refusal)


def test_a_pmd_gets_a_core_that_nothing_uses() -> None:
    point = measured(SWITCHED, pmds=(0, 1))
    refused = NEXT["sut.vswitch.pmd_cpus"](point)
    assert refused == Refusal("testhost has no core left for a further one")
    siblings = tuple(Cpu(i, siblings=pair) for pair in ((0, 1), (2, 3)) for i in pair)
    threads = replace(point, plan=plan(1), host=replace(FACTS, cpus=siblings))
    # CPU 0 is the other thread of the PMD's core.
    assert NEXT["sut.vswitch.pmd_cpus"](threads) == (1, 2)
    elsewhere = replace(threads, host=replace(FACTS, host="another"))
    assert isinstance(NEXT["sut.vswitch.pmd_cpus"](elsewhere), Refusal)


def test_next_queues_are_for_threads_without_one() -> None:
    """Also where no CPU is left for a thread, or it is not known how many poll."""
    two = replace(SWITCHED, sut=Sut(Vswitch(rx_queues=2)))
    for point, why in (
        (measured(two), "every PMD thread has a queue"),
        (replace(measured(SWITCHED), host=replace(FACTS, cpus=FACTS.cpus[1:])), "every PMD thread"),
        (replace(measured(SWITCHED), plan=None), "not known which CPUs"),
    ):
        refused = NEXT["sut.vswitch.rx_queues"](point)
        assert isinstance(refused, Refusal)
        assert refused.why.startswith(why)


def test_a_proposal_is_split_into_keys_to_try_and_the_rest() -> None:
    found = proposed(measured(SWITCHED, (0, 1)), "sut.vswitch.pmd_cpus, sut.vswitch.rx_queues")
    assert found.keys == (KeyChange("sut.vswitch.rx_queues", 2),)
    assert found.cannot_try == "sut.vswitch.pmd_cpus: testhost has no core left for a further one"
    whole = proposed(measured(SWITCHED), "sut.vswitch.descriptors; wirespeed plan writes the rest")
    assert (whole.keys, whole.cannot_try) == ((KeyChange("sut.vswitch.descriptors", 1024),), None)


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("core_contention", "a reboot"), ("shared_lcore", "more cores"),
        ("policer", "wirespeed compare"),
    ],
)  # fmt: skip
def test_a_change_that_no_key_makes_says_what_it_takes(limit: str, said: str) -> None:
    found = proposed(measured(SWITCHED), "isolcpus", limit)
    assert found.keys == ()
    assert said in (found.cannot_try or "")


def test_an_explainer_that_knows_better_is_not_corrected() -> None:
    own = Proposal("Do it.", None, (KeyChange("traffic.flows", 3),))
    found = Explanation("own", "It is.", proposal=own)
    assert with_values(measured(SWITCHED), found) == found
    nothing = Explanation("own", "It is.")
    assert with_values(measured(SWITCHED), nothing) == nothing
