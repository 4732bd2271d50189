# SPDX-License-Identifier: Apache-2.0
"""Render TripleO's role parameters and the hosts' os-net-config templates.

Parameter names are current (Red Hat OpenStack 17). S3's are older: HostCpusList, NovaVcpuPinSet and
NeutronDpdkCoreList no longer exist. Hosts with the same values share a role.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from wirespeed.model.cpuset import format_list
from wirespeed.model.input.bounded import load_json
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.plan.policy import NicUse
from wirespeed.plan.render.interface import Files, fill
from wirespeed.plan.render.kernel import command_line
from wirespeed.plan.render.openstack import FILTERS, device_specs
from wirespeed.plan.render.ovs import bridge_name, bridges

# Arguments with their own parameters.
_OWN_PARAMETERS = ("isolcpus=", "nohz_full=", "rcu_nocbs=", "nohz=")


@dataclass(frozen=True, slots=True)
class Role:
    """A role and its hosts."""

    name: str
    hosts: tuple[HostPlan, ...]
    parameters: tuple[tuple[str, object, str], ...]
    """Name, value (a JSON type) and reason."""


def render(plan: Plan) -> Files:
    """Return network-environment.yaml for all roles, and a network config for each."""
    roles = _roles(plan)
    files = {
        "tripleo/network-environment.yaml": fill(
            "network_environment.yaml.j2", plan=plan, roles=roles,
            common=_common(plan),
        )
    }  # fmt: skip
    for role in roles:
        host = role.hosts[0]
        files[f"tripleo/network-config/{role.name}.yaml"] = fill(
            "net_config.yaml.j2", role=role, host=host, bridges=bridges(plan, host),
            sriov=[nic for nic in host.nics if nic.use is NicUse.SRIOV and nic.interface],
        )  # fmt: skip
    return files


def _roles(plan: Plan) -> list[Role]:
    found: dict[str, list[HostPlan]] = {}
    for host in plan.hosts:
        found.setdefault(json.dumps(_parameters(plan, host)), []).append(host)
    return [
        Role(f"Compute{_kind(hosts[0])}{number or ''}", tuple(hosts), _parameters(plan, hosts[0]))
        for number, hosts in enumerate(found.values())
    ]


def _kind(host: HostPlan) -> str:
    """Return TripleO's own role suffix, as in ComputeOvsDpdk, ComputeSriov, ComputeOvsDpdkSriov."""
    sriov = any(nic.use is NicUse.SRIOV for nic in host.nics)
    return ("OvsDpdk" if host.vswitch else "") + ("Sriov" if sriov else "")


def _parameters(plan: Plan, host: HostPlan) -> tuple[tuple[str, object, str], ...]:
    cores, vswitch = host.cores, host.vswitch
    if cores is None or host.reserved_memory_mib is None:
        return ()
    words = [w for w in command_line(host).split() if not w.startswith(_OWN_PARAMETERS)]
    isolated = format_list(cores.isolated.value)
    made: list[tuple[str, object, str]] = [
        ("KernelArgs", " ".join(words), "the words without a parameter of their own"),
        ("IsolCpusList", isolated, cores.isolated.because),
        ("TunedProfileName", "cpu-partitioning", "isolates them without isolcpus= (Red Hat)"),
        ("NovaComputeCpuDedicatedSet", format_list(cores.dedicated.value), cores.dedicated.because),
        ("NovaComputeCpuSharedSet", format_list(cores.shared.value), cores.shared.because),
        ("NovaReservedHostMemory", host.reserved_memory_mib.value,
         host.reserved_memory_mib.because),
        ("NovaLibvirtRxQueueSize", 1024, "Red Hat"),
        ("NovaLibvirtTxQueueSize", 1024, "Red Hat"),
    ]  # fmt: skip
    if vswitch:
        memory = ",".join(map(str, vswitch.socket_memory_mib.value))
        pmds = format_list(vswitch.pmd_cpus.value)
        made += [
            ("OvsEnableDpdk", True, "the vSwitch of this role"),
            ("OvsPmdCoreList", pmds, vswitch.pmd_cpus.because),
            ("OvsDpdkSocketMemory", memory, vswitch.socket_memory_mib.because),
            ("VhostuserSocketGroup", "hugetlbfs", "QEMU and Open vSwitch share the sockets"),
        ]
        if vswitch.memory_channels:
            channels = vswitch.memory_channels
            made.append(("OvsDpdkMemoryChannels", str(channels.value), channels.because))
    specs = [load_json(spec) for spec in device_specs(plan, host)]
    if specs:
        made.append(("NovaPCIPassthrough", specs, "what guests may be given (S1)"))
    return tuple(made)


def _common(plan: Plan) -> list[tuple[str, object]]:
    physical = sorted(
        {plan.network(n.network).physical_network for h in plan.hosts for n in h.nics
         if n.use is NicUse.DPDK}
    )  # fmt: skip
    devices = sorted(
        {f"{plan.network(n.network).physical_network}:{n.interface}" for h in plan.hosts
         for n in h.nics if n.use is NicUse.SRIOV and n.interface}
    )  # fmt: skip
    ranges = sorted(
        f"{n.physical_network}:{n.segment}:{n.segment}" for n in plan.networks if n.segment
    )
    common: list[tuple[str, object]] = [("NovaSchedulerEnabledFilters", list(FILTERS))]
    if physical:
        mappings = ",".join(f"{name}:{bridge_name(name)}" for name in physical)
        common.append(("NeutronBridgeMappings", mappings))
    if devices:
        common.append(("NeutronPhysicalDevMappings", ",".join(devices)))
        common.append(("NeutronMechanismDrivers", ["openvswitch", "sriovnicswitch"]))
    if ranges:
        common.append(("NeutronNetworkVLANRanges", ",".join(ranges)))
    mtu = max((n.mtu for n in plan.networks), default=1500)
    common.append(("NeutronGlobalPhysnetMtu", mtu))
    return common
