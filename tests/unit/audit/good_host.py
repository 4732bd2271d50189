# SPDX-License-Identifier: Apache-2.0
"""Build a small two-socket server on which every rule passes, and break one thing in it.

Each socket has six cores with SMT: node 0 has CPUs 0-5 and 12-17, node 1 has 6-11 and 18-23.
Siblings are 12 apart. The host keeps core 0 of each node, PMD threads run on 1, 2 and 7, guests on
the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Subject
from wirespeed.model.host.facts import (
    Cpu,
    HostFacts,
    Housekeeping,
    HugePagePool,
    IdleState,
    Interface,
    Irq,
    Kernel,
    Missing,
    NumaNode,
    PciDevice,
)
from wirespeed.model.host.guest_facts import Flavor, Guest, GuestPort, NovaFacts, VcpuPin
from wirespeed.model.host.neighbours import Neighbours
from wirespeed.model.host.ovs_facts import Bridge, OvsFacts, OvsInterface, PmdThread, Rxq
from wirespeed.model.host.platform import (
    BootEnvironment,
    CpuSmis,
    Service,
    SmiCount,
    Tuned,
    Uncore,
    Vulnerability,
)
from wirespeed.model.plan.kubelet import (
    CpuOption,
    KubeletSettings,
    NodeMemory,
    TopologyPolicy,
    TopologyScope,
)
from wirespeed.model.plan.plan import Decision, HostPlan, HugePages, NicPlan, Plan
from wirespeed.model.plan.policy import NicUse

GIB_IN_KIB = 1024 * 1024
CORES = 6
PER_NODE = ((*range(6), *range(12, 18)), (*range(6, 12), *range(18, 24)))
ISOLATED = (*range(1, 6), *range(7, 12), *range(13, 18), *range(19, 24))
GUEST_CPUS = (3, 4, 5, 8, 9, 10, 11, 15, 16, 17, 20, 21, 22, 23)
PF, VF0, VF1 = "0000:04:00.0", "0000:04:02.0", "0000:04:02.1"
DEEP = IdleState("C6", 133, disabled=True)
SHALLOW = IdleState("C1", 2, disabled=False)


def good_facts() -> HostFacts:
    return HostFacts(
        host="good",
        kernel=Kernel(
            release="6.1.0-rt5",
            cmdline="isolcpus=1-5,7-11,13-17,19-23 hugepagesz=1G hugepages=32 intel_iommu=on "
            "iommu=pt",
            isolated=ISOLATED,
            nohz_full=ISOLATED,
            rcu_nocbs=ISOLATED,
        ),
        cpus=tuple(_cpu(number) for number in range(24)),
        nodes=tuple(
            NumaNode(
                id=node,
                cpus=PER_NODE[node],
                memory_kib=64 * GIB_IN_KIB,
                free_kib=8 * GIB_IN_KIB,
                installed_kib=66 * GIB_IN_KIB,
                online_kib=66 * GIB_IN_KIB,
                distances=((10, 21), (21, 10))[node],
                huge_pages=(HugePagePool(2048, 0, 0), HugePagePool(GIB_IN_KIB, 16, 8)),
            )
            for node in (0, 1)
        ),
        cpu_model="Intel(R) Xeon(R)",
        cpu_flags=("aes", "avx2"),
        memory_channels=12,
        pci=_pci(),
        interfaces=(
            Interface("eno1", 1500, True, 1000, "0000:01:00.0"),
            Interface("ens1f0", 9000, True, 25000, PF),
        ),
        default_route_interface="eno1",
        irqs=(Irq(60, tuple(range(24)), (0,), "eno1-0"), Irq(61, (0, 12), (12,), "ens1f0-0")),
        iommu_units=("dmar0",),
        left_by_killed_runs=(),
        neighbours=Neighbours("quickstart-1", trials=40, moved=0, taken=0.01, stolen=0.0),
        uio_drivers=("vfio-pci",),
        housekeeping=good_housekeeping(),
        uncore=(Uncore("package_00_die_00", 2_400_000, 2_400_000, 2_400_000),),
        ddio_ways=2,
        vulnerabilities=(
            Vulnerability("mds", "Not affected"),
            Vulnerability("meltdown", "Mitigation: PTI"),
            Vulnerability("retbleed", "Unknown: Dependent on hypervisor status"),
        ),
        services=(Service("irqbalance", active=True), Service("tuned", active=True)),
        # tuned bounds irqbalance by its own option, so that the two are one owner.
        tuned=Tuned(
            ("cpu-partitioning",),
            ("cpu.governor", "irqbalance.banned_cpus", "scheduler.isolated_cores"),
        ),
        boot_environment=BootEnvironment("/boot/grub2/grubenv", 300, 1024, "ro isolcpus=1-5"),
        smis=SmiCount(60.0, (CpuSmis(2, 0),)),
        ovs=_ovs(),
        guests=(_guest("vnf0", (3, 15), VF0), _guest("vnf1", (4, 16), VF1)),
        nova=NovaFacts(
            path="/etc/nova/nova.conf",
            dedicated_cpus=GUEST_CPUS,
            shared_cpus=(0, 12),
            enabled_filters=("ComputeFilter", "NUMATopologyFilter", "PciPassthroughFilter"),
            cpu_mode="host-model",
        ),
        flavors=(
            Flavor(
                "nfv",
                vcpus=2,
                memory_mib=4096,
                extra_specs={
                    "hw:cpu_policy": "dedicated",
                    "hw:cpu_thread_policy": "require",
                    "hw:numa_nodes": "1",
                    "hw:numa_cpus.0": "0,1",
                    "capabilities:cpu_info:features": "aes",
                },
            ),
        ),
    )


def good_housekeeping() -> Housekeeping:
    return Housekeeping(
        nmi_watchdog=False,
        transparent_huge_pages="madvise",
        ksm=False,
        stat_interval_s=10,
        rt_runtime_us=-1,
        rt_period_us=1_000_000,
        workqueue_cpus=(0, 6, 12, 18),
        aspm_policy="default",
    )


def _cpu(number: int) -> Cpu:
    core = number % 12
    return Cpu(
        id=number,
        node=core // CORES,
        package=core // CORES,
        core=core % CORES,
        siblings=(core, core + 12),
        governor="performance",
        idle_states=(SHALLOW, DEEP),
    )


def _pci() -> tuple[PciDevice, ...]:
    def nic(address: str, driver: str, **more: Any) -> PciDevice:
        return PciDevice(address, "8086", "158b", driver=driver, link_width=16, **more)

    return (
        nic("0000:01:00.0", "igb", interfaces=("eno1",)),
        nic(PF, "i40e", interfaces=("ens1f0",), sriov_total=64, sriov_num=2),
        nic(VF0, "vfio-pci", physical_function=PF),
        nic(VF1, "vfio-pci", physical_function=PF),
        nic("0000:5e:00.0", "vfio-pci"),
        nic("0000:5e:00.1", "vfio-pci"),
    )


def _dpdk(name: str, address: str) -> OvsInterface:
    return OvsInterface(
        name=name,
        bridge="br0",
        type="dpdk",
        options={"dpdk-devargs": address, "n_rxq": "2"},
        mtu=9000,
        mtu_request=9000,
        bond="bond0",
        pci=address,
        node=0,
        requested_rx_queues=2,
        configured_rx_queues=2,
        requested_tx_queues=4,
        configured_tx_queues=4,
        rx_descriptors=4096,
        tx_descriptors=4096,
    )


def _ovs() -> OvsFacts:
    vhost = OvsInterface(
        name="vhu0",
        bridge="br0",
        type="dpdkvhostuserclient",
        options={"vhost-server-path": "/run/vhu0"},
        mtu=9000,
        mtu_request=9000,
        node=0,
    )
    return OvsFacts(
        version="3.1.0",
        dpdk_initialized=True,
        dpdk_version="DPDK 22.11",
        other_config={
            "pmd-cpu-mask": "0x86",
            "dpdk-lcore-mask": "0x1",
            "dpdk-socket-mem": "3072,1024",
            "dpdk-extra": "-n 6",
            "userspace-tso-enable": "true",
        },
        bridges=(Bridge("br0", "netdev", ("bond0", "vhu0")),),
        interfaces=(_dpdk("dpdk0", "0000:5e:00.0"), _dpdk("dpdk1", "0000:5e:00.1"), vhost),
        pmds=(
            PmdThread(1, 0, rxqs=(Rxq("dpdk0", 0), Rxq("dpdk1", 0), Rxq("vhu0", 0))),
            PmdThread(2, 0, rxqs=(Rxq("dpdk0", 1), Rxq("dpdk1", 1))),
            PmdThread(7, 1),
        ),
    )


def _guest(name: str, cpus: tuple[int, ...], vf: str) -> Guest:
    return Guest(
        name=name,
        vcpus=len(cpus),
        memory_kib=4 * GIB_IN_KIB,
        pins=tuple(VcpuPin(vcpu, (cpu,)) for vcpu, cpu in enumerate(cpus)),
        emulator_cpus=(0,),
        memory_nodes=(0,),
        huge_page_kib=GIB_IN_KIB,
        ports=(GuestPort("vhostuser", 2, "/run/vhu0"), GuestPort("hostdev", pci=vf)),
        cpu_mode="host-model",
    )


def good_plan() -> Plan:
    pages = (HugePages(0, GIB_IN_KIB, 16), HugePages(1, GIB_IN_KIB, 16))
    nic = NicPlan(PF, 0, "net", NicUse.SRIOV, Decision("i40e", "test"), Decision(2, "test"))
    return Plan(hosts=(HostPlan("good", Decision(pages, "test"), nics=(nic,)),))


def good_subject() -> Subject:
    return Subject(good_facts(), good_plan(), tcp=True, kubelet=good_kubelet())


def good_kubelet() -> KubeletSettings:
    return KubeletSettings(
        reserved_cpus=(0, 6, 12, 18),
        static_cpus=True,
        cpu_options=frozenset({CpuOption.FULL_PCPUS_ONLY, CpuOption.STRICT_CPU_RESERVATION}),
        static_memory=True,
        reserved_memory=(NodeMemory(0, 1 << 30), NodeMemory(1, 1 << 30)),
        topology=TopologyPolicy.SINGLE_NUMA_NODE,
        scope=TopologyScope.POD,
    )


def with_facts(**changes: Any) -> Subject:
    return replace(good_subject(), facts=replace(good_facts(), **changes))


def with_kernel(**changes: Any) -> Subject:
    return with_facts(kernel=replace(good_facts().kernel, **changes))


def with_housekeeping(**changes: Any) -> Subject:
    return with_facts(housekeeping=replace(good_housekeeping(), **changes))


def with_nova(**changes: Any) -> Subject:
    nova = good_facts().nova
    assert nova
    return with_facts(nova=replace(nova, **changes))


def with_ovs(**changes: Any) -> Subject:
    return with_facts(ovs=replace(_ovs(), **changes))


def with_config(**changes: str | None) -> Subject:
    """Change keys of other_config (pmd_cpu_mask="0x6"); None removes one."""
    config = dict(_ovs().other_config)
    for key, value in changes.items():
        name = key.replace("_", "-")
        config.pop(name, None)
        if value is not None:
            config[name] = value
    return with_ovs(other_config=config)


def with_port(name: str, **changes: Any) -> Subject:
    """Change one interface of the vSwitch."""
    return with_ovs(
        interfaces=tuple(replace(i, **changes) if i.name == name else i for i in _ovs().interfaces)
    )


def with_guest(name: str, **changes: Any) -> Subject:
    guests = good_facts().guests or ()
    return with_facts(guests=tuple(replace(g, **changes) if g.name == name else g for g in guests))


def with_device(address: str, **changes: Any) -> Subject:
    return with_facts(
        pci=tuple(replace(d, **changes) if d.address == address else d for d in _pci())
    )


def with_node(number: int, **changes: Any) -> Subject:
    return with_facts(
        nodes=tuple(replace(n, **changes) if n.id == number else n for n in good_facts().nodes)
    )


def with_flavor(**extra_specs: str) -> Subject:
    """Give the host one flavor with these extra specs; write hw:cpu_policy as hw__cpu_policy."""
    specs = {key.replace("__", ":", 1): value for key, value in extra_specs.items()}
    return with_facts(flavors=(Flavor("odd", 4, 4096, specs),))


# Name of the missing fact and the changed facts, for a need that lacks the permission to be read.
_UNREADABLE: dict[Need, tuple[str, dict[str, Any]]] = {
    Need.CPUS: ("cpus", {}),
    Need.MEMORY: ("huge_pages", {}),
    Need.MEMORY_BLOCKS: ("memory_blocks", {}),
    Need.MULTI_NODE: ("nodes", {}),
    Need.SMT: ("cpus", {}),
    Need.KERNEL: ("kernel", {}),
    Need.ISOLATED: ("kernel", {}),
    Need.HOUSEKEEPING: ("housekeeping", {"housekeeping": None}),
    Need.PCI: ("pci", {"pci": ()}),
    Need.IRQS: ("irqs", {"irqs": None}),
    Need.MEMORY_CHANNELS: ("memory_channels", {"memory_channels": None}),
    Need.OVS: ("ovs", {"ovs": None}),
    Need.DPDK: ("ovs", {"ovs": None}),
    Need.PMDS: ("ovs.pmds", {}),
    Need.NOVA: ("nova", {"nova": None}),
    Need.GUESTS: ("guests", {"guests": None}),
    Need.FLAVORS: ("flavors", {"flavors": None}),
    Need.UNCORE: ("uncore", {"uncore": None}),
    Need.DDIO: ("ddio_ways", {"ddio_ways": None}),
    Need.VULNERABILITIES: ("vulnerabilities", {"vulnerabilities": None}),
    Need.SERVICES: ("services", {"services": None}),
    Need.BOOT_ENVIRONMENT: ("boot_environment", {"boot_environment": None}),
    Need.QUALIFIED: ("smis", {"smis": None}),
    Need.RUNS: ("left_by_killed_runs", {"left_by_killed_runs": None}),
    Need.MEASURED: ("neighbours", {"neighbours": None}),
}


def unreadable(need: Need) -> Subject:
    """Return the good host as read by a user without the permission for this fact."""
    if need is Need.PLAN:
        return replace(good_subject(), plan=None)
    fact, changes = _UNREADABLE[need]
    return with_facts(missing=(Missing(fact, "needs root to read it"),), **changes)
