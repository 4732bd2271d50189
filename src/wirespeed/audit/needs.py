# SPDX-License-Identifier: Apache-2.0
"""Check that a host has the facts that a rule needs; separate unknown facts from absent things."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from wirespeed.model.host.facts import HostFacts


@dataclass(frozen=True, slots=True)
class Unknown:
    """A fact that could not be read: the rule is not checked."""

    reason: str
    """Text that starts with "needs"."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A thing that the host does not have: the rule does not apply."""

    reason: str


class Need(Enum):
    """Facts that a rule can require. The value is the text on the reference page."""

    CPUS = "the CPU topology"
    MEMORY = "memory and huge pages of each NUMA node"
    MEMORY_BLOCKS = "the states of the memory blocks (/sys/devices/system/memory)"
    MULTI_NODE = "more than one NUMA node"
    SMT = "SMT (more than one thread per core)"
    KERNEL = "the kernel's command line and CPU sets"
    ISOLATED = "isolated CPUs"
    HOUSEKEEPING = "the kernel's own settings (watchdog, memory, workqueues, PCIe)"
    PCI = "PCI network devices"
    IRQS = "interrupt affinities"
    MEMORY_CHANNELS = "the populated memory channels (EDAC)"
    OVS = "the configuration of a running Open vSwitch"
    DPDK = "an Open vSwitch that runs with DPDK"
    PMDS = "the PMD threads and their rxqs (ovs-appctl)"
    NOVA = "nova.conf"
    GUESTS = "running libvirt domains"
    FLAVORS = "Nova flavors (from running guests, or --flavors)"
    UNCORE = "the uncore frequencies (intel_uncore_frequency)"
    DDIO = "the cache ways of Intel DDIO (MSR 0xC8B)"
    VULNERABILITIES = "the kernel's mitigations (/sys/devices/system/cpu/vulnerabilities)"
    SERVICES = "the states of services (systemctl)"
    BOOT_ENVIRONMENT = "GRUB's environment block"
    QUALIFIED = "a qualification of this host (--qualification)"
    RUNS = "the journals of runs (of a host that is reached, not of a recorded one)"
    MEASURED = "a run that was measured on this host (--run)"
    PLAN = "a plan that covers this host (--plan)"
    KUBELET = "the configuration of the kubelet (--kubelet)"


FLAVORS_HINT = (
    "needs the flavors: give --flavors FILE (openstack flavor list --long -f json > FILE)"
)

# Names of the facts in HostFacts.missing.
_FACTS = {
    Need.CPUS: ("cpus", "nodes"),
    Need.MEMORY: ("nodes", "huge_pages"),
    Need.MEMORY_BLOCKS: ("nodes", "memory_blocks"),
    Need.MULTI_NODE: ("nodes",),
    Need.SMT: ("cpus",),
    Need.KERNEL: ("kernel",),
    Need.ISOLATED: ("kernel",),
    Need.HOUSEKEEPING: ("housekeeping",),
    Need.PCI: ("pci",),
    Need.IRQS: ("irqs",),
    Need.MEMORY_CHANNELS: ("memory_channels",),
    Need.OVS: ("ovs",),
    Need.DPDK: ("ovs",),
    Need.PMDS: ("ovs", "ovs.pmds"),
    Need.NOVA: ("nova",),
    Need.GUESTS: ("guests",),
    Need.FLAVORS: ("flavors",),
    Need.UNCORE: ("uncore",),
    Need.DDIO: ("ddio_ways",),
    Need.VULNERABILITIES: ("vulnerabilities",),
    Need.SERVICES: ("services",),
    Need.BOOT_ENVIRONMENT: ("boot_environment",),
    Need.QUALIFIED: ("smis",),
    Need.RUNS: ("left_by_killed_runs",),
    Need.MEASURED: ("neighbours",),
}


def lacking(need: Need, facts: HostFacts) -> Unknown | Absent | None:
    """Return why this need is not met on this host; None when it is met.

    Need.PLAN and Need.KUBELET are not checked here.
    """
    for fact in _FACTS.get(need, ()):
        reason = facts.why_missing(fact)
        if reason is not None:
            return Unknown(
                reason if reason.startswith("needs") else f"needs {need.value}: {reason}"
            )
    absent = _absent(need, facts)
    if absent is not None:
        return Absent(absent)
    if need is Need.FLAVORS and facts.flavors is None:
        return Unknown(FLAVORS_HINT)
    return None


def _absent(need: Need, facts: HostFacts) -> str | None:
    """Return why there is nothing to check, or None."""
    no_ovs = facts.ovs is None
    no_openstack = facts.nova is None and facts.why_missing("nova") is None
    reasons = {
        Need.MEMORY_BLOCKS: (
            all(node.installed_kib is None for node in facts.nodes),
            "the host file has no memory blocks, or the kernel has no memory hotplug",
        ),
        Need.MULTI_NODE: (len(facts.nodes) < 2, "the host has one NUMA node"),
        Need.SMT: (not facts.smt, "the host runs without SMT"),
        Need.ISOLATED: (not facts.kernel.isolated, "no CPU is isolated"),
        Need.HOUSEKEEPING: (
            facts.housekeeping is None,
            "the kernel has none of these settings, or the host file is older than them",
        ),
        Need.UNCORE: (
            facts.uncore is None,
            "the kernel does not control uncore frequencies, or the host file is older than them",
        ),
        Need.DDIO: (
            facts.ddio_ways is None,
            "the host is no bare metal of Intel, or the host file has no MSR 0xC8B",
        ),
        Need.VULNERABILITIES: (
            facts.vulnerabilities is None,
            "the kernel reports no weaknesses, or the host file is older than them",
        ),
        Need.SERVICES: (facts.services is None, "the host file has no states of services"),
        Need.BOOT_ENVIRONMENT: (
            facts.boot_environment is None,
            "the host has no environment block of GRUB, or the host file is older than it",
        ),
        Need.QUALIFIED: (facts.smis is None, "no qualification is given (--qualification)"),
        Need.PCI: (not facts.nics, "the host has no PCI network device"),
        Need.OVS: (no_ovs, "no Open vSwitch runs on this host"),
        Need.NOVA: (facts.nova is None, "there is no nova.conf"),
        Need.RUNS: (
            facts.left_by_killed_runs is None,
            "the host is recorded; what its runs have left is not known",
        ),
        Need.MEASURED: (facts.neighbours is None, "no run of this host is given (--run)"),
        Need.FLAVORS: (facts.flavors is None and no_openstack, "Nova does not run on this host"),
    }
    if need in (Need.DPDK, Need.PMDS):
        if no_ovs:
            return "no Open vSwitch runs on this host"
        return (
            None if facts.ovs and facts.ovs.dpdk_initialized else "Open vSwitch runs without DPDK"
        )
    if need is Need.GUESTS:
        if facts.guests is None:
            return "libvirt does not run on this host"
        return None if facts.guests else "no guest runs"
    applies, reason = reasons.get(need, (False, ""))
    return reason if applies else None
