# SPDX-License-Identifier: Apache-2.0
"""Write the extra specs that make Nova place a guest as planned.

Only keys that current Nova knows are written (nova/api/validation/extra_specs, release 34). The
papers' hw:cpu_threads_policy and hw:numa_mempolicy are not among them.
"""

from __future__ import annotations

from wirespeed.model.cpuset import format_list
from wirespeed.model.plan.policy import CpuPolicy, ThreadPolicy
from wirespeed.model.plan.workload import Vnf, Workload
from wirespeed.plan.nova.features import HYPERTHREADING, trait

# Settings that a VNF's image may make instead of its flavor (Nova's rules: image_settings.py).
IMAGE_TWINS = {
    "hw_cpu_policy": "hw:cpu_policy",
    "hw_cpu_thread_policy": "hw:cpu_thread_policy",
    "hw_numa_nodes": "hw:numa_nodes",
    "hw_pci_numa_affinity_policy": "hw:pci_numa_affinity_policy",
    "hw_vif_multiqueue_enabled": "hw:vif_multiqueue_enabled",
}


def extra_specs(vnf: Vnf, workload: Workload) -> dict[str, str]:
    """Return the flavor's extra specs, without those that the image has, sorted by key."""
    specs = _cpu_specs(vnf) | _numa_specs(vnf) | _host_specs(vnf, workload)
    if vnf.page_size:
        specs["hw:mem_page_size"] = vnf.page_size
    if vnf.pci_numa_policy:
        specs["hw:pci_numa_affinity_policy"] = str(vnf.pci_numa_policy)
    if vnf.multiqueue is not None:
        specs["hw:vif_multiqueue_enabled"] = str(vnf.multiqueue).lower()
    if vnf.devices:
        specs["pci_passthrough:alias"] = ",".join(f"{d.alias}:{d.count}" for d in vnf.devices)
    for image_key, flavor_key in IMAGE_TWINS.items():
        if image_key in vnf.image_properties:
            specs.pop(flavor_key, None)
    if any(key.startswith("hw_numa_cpus") for key in vnf.image_properties):
        specs = {
            k: v for k, v in specs.items() if not k.startswith(("hw:numa_cpus", "hw:numa_mem"))
        }
    return dict(sorted(specs.items()))


def _cpu_specs(vnf: Vnf) -> dict[str, str]:
    specs: dict[str, str] = {}
    if vnf.cpu_policy:
        specs["hw:cpu_policy"] = str(vnf.cpu_policy)
    if vnf.cpu_policy is CpuPolicy.MIXED:
        specs["hw:cpu_dedicated_mask"] = format_list(vnf.dedicated_cpus)
    if vnf.emulator_policy:
        specs["hw:emulator_threads_policy"] = str(vnf.emulator_policy)
    if vnf.thread_policy is ThreadPolicy.AVOID:
        specs[f"trait:{HYPERTHREADING}"] = "forbidden"
    elif vnf.thread_policy is ThreadPolicy.SEPARATE:
        # Nova has no such policy; `prefer` is the nearest that SMT hosts accept.
        specs["hw:cpu_thread_policy"] = str(ThreadPolicy.PREFER)
    elif vnf.thread_policy:
        specs["hw:cpu_thread_policy"] = str(vnf.thread_policy)
    return specs


def _numa_specs(vnf: Vnf) -> dict[str, str]:
    """Return the keys of the NUMA layout.

    Nova ignores hw:numa_cpus.N without hw:numa_nodes, which S1's own example lacks.
    """
    specs: dict[str, str] = {}
    if vnf.numa_nodes:
        specs["hw:numa_nodes"] = str(vnf.numa_nodes)
    for node, cpus in enumerate(vnf.numa_cpus):
        specs[f"hw:numa_cpus.{node}"] = format_list(cpus)
    for node, mib in enumerate(vnf.numa_memory_mib):
        specs[f"hw:numa_mem.{node}"] = str(mib)
    return specs


def _host_specs(vnf: Vnf, workload: Workload) -> dict[str, str]:
    """Return CPU features as traits and the aggregate's keys.

    A feature without a trait becomes a capability.
    """
    specs: dict[str, str] = {}
    untraited = []
    for feature in vnf.cpu_features:
        name = trait(feature)
        if name:
            specs[f"trait:{name}"] = "required"
        else:
            untraited.append(feature)
    if untraited:
        specs["capabilities:cpu_info:features"] = f"<all-in> {' '.join(untraited)}"
    for aggregate in workload.aggregates:
        if aggregate.name == vnf.aggregate:
            for key, value in aggregate.metadata.items():
                specs[f"aggregate_instance_extra_specs:{key}"] = value
    return specs
