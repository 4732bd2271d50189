# SPDX-License-Identifier: Apache-2.0
"""Check for random workloads that nothing is assigned twice and NUMA affinity holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.examples import empty
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.host_rules import (
    CoreRules,
    HugePagePolicy,
    MemoryModel,
    MemoryRules,
    PmdSiblingPolicy,
    VswitchRules,
)
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.plan.policy import (
    CpuPolicy,
    EmulatorPolicy,
    InterfaceKind,
    NicUse,
    PciNumaPolicy,
    ThreadPolicy,
)
from wirespeed.model.plan.workload import Nic, ProviderNetwork, Vnf, VnfPort, Workload
from wirespeed.plan.plan_file import write_plan
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.rules import broken_rules

NETWORKS = (ProviderNetwork("access", "physnet1", mtu=9000), ProviderNetwork("core", "physnet2"))
NICS = (
    Nic("access", NicUse.DPDK, ("0000:5e:00.0", "0000:60:00.0")),
    Nic("core", NicUse.SRIOV, ("0000:af:00.0",), vfs=6),
)


@st.composite
def vnfs(draw: st.DrawFn, name: str) -> Vnf:
    policy = draw(st.sampled_from([None, *CpuPolicy, CpuPolicy.DEDICATED]))
    vcpus = 2 * draw(st.integers(1, 8))
    pinned = policy in (CpuPolicy.DEDICATED, CpuPolicy.MIXED)
    dedicated = tuple(range(1, vcpus)) if policy is CpuPolicy.MIXED else ()
    kinds = st.sampled_from([InterfaceKind.AUTO, InterfaceKind.VHOST, InterfaceKind.SRIOV])
    ports = []
    for index in range(draw(st.integers(0, 2))):
        kind = draw(kinds)
        network = "core" if kind is InterfaceKind.SRIOV else "access"
        rate = draw(st.sampled_from([0.0, 1e5, 3e6]))
        ports.append(VnfPort(f"eth{index}", network, kind, rate, 256))
    return Vnf(
        name, vcpus, draw(st.sampled_from([1024, 4096, 8192])), draw(st.integers(1, 4)),
        page_size=draw(st.sampled_from([None, "large", "any", "2048", "1048576"])),
        cpu_policy=policy, dedicated_cpus=dedicated,
        thread_policy=draw(st.sampled_from([None, *ThreadPolicy])) if pinned else None,
        emulator_policy=draw(st.sampled_from([None, *EmulatorPolicy])) if pinned else None,
        numa_nodes=draw(st.sampled_from([None, 1, 2])),
        pci_numa_policy=draw(st.sampled_from([None, *PciNumaPolicy])),
        ports=tuple(ports),
    )  # fmt: skip


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    rules = CoreRules(
        pmd_siblings=draw(st.sampled_from(PmdSiblingPolicy)),
        shared_cores=draw(st.integers(0, 2)),
        vswitchd_own_core=draw(st.booleans()),
    )
    memory = MemoryRules(huge_pages=draw(st.sampled_from(HugePagePolicy)))
    vswitch = VswitchRules(memory_model=draw(st.sampled_from(MemoryModel)))
    asked = tuple(draw(vnfs(f"vnf{i}")) for i in range(draw(st.integers(1, 4))))
    return Workload(
        "random", asked, networks=NETWORKS, nics=NICS, cores=rules, memory=memory, vswitch=vswitch
    )


HOSTS = [empty("s3-r740xd", "a"), empty("s3-r740xd", "b")]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workload=workloads())
def test_no_cpu_page_or_vf_is_planned_twice(workload: Workload) -> None:
    if broken_rules(workload):
        return
    plan = plan_workload(workload, HOSTS)
    assert write_plan(plan) == write_plan(plan_workload(workload, HOSTS))
    for host, facts in zip(plan.hosts, HOSTS, strict=True):
        _cpus_once(host)
        _memory_fits(host, facts)
        _devices_once(host)
        _near_their_nic(plan, host, workload)
    guests = [guest.name for host in plan.hosts for guest in host.guests]
    lost = [unplaced.guest for unplaced in plan.unplaced]
    assert len(guests) + len(lost) == sum(vnf.count for vnf in workload.vnfs)
    assert sorted(plan.order) == sorted(guests)
    for unplaced in plan.unplaced:
        assert unplaced.shortages


def _cpus_once(host: HostPlan) -> None:
    assert host.cores
    assert host.vswitch
    taken = Counter(host.vswitch.pmd_cpus.value)
    taken.update(host.cores.housekeeping.value)
    for guest in host.guests:
        taken.update(cpu for node in guest.nodes for _, cpu in node.pins)
        if guest.emulator_cpus:
            alone = set(guest.emulator_cpus.value) - set(host.cores.shared.value)
            taken.update(alone)
    assert max(taken.values()) == 1
    pinned = {cpu for guest in host.guests for node in guest.nodes for _, cpu in node.pins}
    assert pinned <= set(host.cores.dedicated.value)


def _memory_fits(host: HostPlan, facts: HostFacts) -> None:
    assert host.vswitch
    planned = {(p.node, p.size_kib): p.count for p in host.huge_pages.value}
    used: Counter[tuple[int, int]] = Counter()
    small: Counter[int] = Counter()
    for guest in host.guests:
        for node in guest.nodes:
            if node.page_kib > 4:
                used[node.node, node.page_kib] += node.memory_mib * 1024 // node.page_kib
            else:
                small[node.node] += node.memory_mib
    for facts_node, mib in zip(facts.nodes, host.vswitch.socket_memory_mib.value, strict=True):
        used[facts_node.id, 1048576] += -(-mib // 1024)
    for key, count in used.items():
        assert count <= planned.get(key, 0)
    for facts_node in facts.nodes:
        pages = sum(size * n for (node, size), n in planned.items() if node == facts_node.id)
        assert pages + small[facts_node.id] * 1024 <= facts_node.memory_kib


def _devices_once(host: HostPlan) -> None:
    addresses = [p.device.value for guest in host.guests for p in guest.ports if p.device]
    assert len(set(addresses)) == len(addresses)
    offered = {nic.address: nic.vfs.value for nic in host.nics}
    by_pf = Counter(address.partition("/")[0] for address in addresses)
    assert all(count <= offered[pf] for pf, count in by_pf.items())


def _near_their_nic(plan: Plan, host: HostPlan, workload: Workload) -> None:
    """Check that guests span the node of their NIC.

    vhost guests span node 0 of the DPDK ports. VF guests span node 1, unless their policy is
    preferred.
    """
    policies = {vnf.name: vnf.pci_numa_policy for vnf in workload.vnfs}
    for guest in host.guests:
        nodes = {node.node for node in guest.nodes}
        kinds = {port.kind.value for port in guest.ports}
        if nodes and InterfaceKind.VHOST in kinds:
            assert 0 in nodes
        if nodes and any(k.takes_vf for k in kinds):
            assert 1 in nodes or policies[guest.flavor] is PciNumaPolicy.PREFERRED
    assert plan.workload == "random"


@given(rate=st.floats(0, 2e7), frame=st.integers(64, 9000))
@settings(max_examples=40, deadline=None)
def test_planned_pmds_carry_the_demand(rate: float, frame: int) -> None:
    """Check that guests behind the vSwitch need no more cycles than its PMD cores have."""
    vnf = Vnf("v", 4, 1024, page_size="1048576", cpu_policy=CpuPolicy.DEDICATED,
              ports=(VnfPort("p", "access", InterfaceKind.VHOST, rate, frame),))  # fmt: skip
    workload = Workload("t", (vnf,), networks=NETWORKS, nics=NICS)
    plan = plan_workload(workload, [replace(HOSTS[0], host="a")])
    host = plan.hosts[0]
    assert host.vswitch
    cores = len([cpu for cpu in host.vswitch.pmd_cpus.value if cpu < 36 and cpu % 2 == 0])
    if not plan.unplaced:
        assert rate * 2 * (154 + 0.2 * (frame - 64)) <= (cores + 1) * 2.3e9 * 0.8 * (1 + 1e-6)
