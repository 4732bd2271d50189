# SPDX-License-Identifier: Apache-2.0
"""Give the reason for each extra spec of a flavor."""

from __future__ import annotations

from wirespeed.model.plan.plan import Decision, FlavorPlan
from wirespeed.model.plan.policy import EmulatorPolicy, ThreadPolicy
from wirespeed.model.plan.workload import Vnf, Workload
from wirespeed.plan.nova.flavors import extra_specs

_REASONS = {
    "hw:cpu_policy": "vCPUs get host CPUs of their own where the workload pins them (S0, S1)",
    "hw:cpu_dedicated_mask": "the vCPUs that are pinned; the others float",
    "hw:mem_page_size": "page_size of the workload (S0, S1, S3)",
    "hw:numa_nodes": "how many NUMA nodes the guest sees; hw:numa_cpus needs it",
    "hw:pci_numa_affinity_policy": "on which NUMA nodes its devices may be",
    "hw:vif_multiqueue_enabled": "one virtio queue for each vCPU (S3, figure 10)",
    "pci_passthrough:alias": "the devices of [pci]alias in nova.conf (S1)",
    "capabilities:cpu_info:features": "CPU features for which there is no trait (S1)",
}


def plan_flavor(vnf: Vnf, workload: Workload) -> FlavorPlan:
    """Return the flavor of a VNF with the reason for each key."""
    specs = {
        key: Decision(value, _reason(key, vnf)) for key, value in extra_specs(vnf, workload).items()
    }
    return FlavorPlan(
        name=vnf.name, vcpus=vnf.vcpus, memory_mib=vnf.memory_mib, disk_gib=vnf.disk_gib,
        specs=specs, image=vnf.image, image_properties=vnf.image_properties,
    )  # fmt: skip


# Reasons by the prefix of the key.
_FAMILY_REASONS = {
    "hw:numa_": "the guest's NUMA layout in the workload (S1)",
    "trait:HW_CPU_HYPERTHREADING": '"avoid" never shipped in Nova; this rules out hosts with SMT',
    "trait:": "cpu_features of the workload (S1)",
    "aggregate_instance_extra_specs:": "ties the flavor to its host aggregate (S1)",
}


def _reason(key: str, vnf: Vnf) -> str:
    if key == "hw:cpu_thread_policy":
        if vnf.thread_policy is ThreadPolicy.SEPARATE:
            return '"separate" never shipped in Nova; prefer is the nearest that SMT hosts accept'
        return f"{vnf.thread_policy}: how vCPUs use SMT siblings (Nova's spelling, not S0's)"
    if key == "hw:emulator_threads_policy":
        if vnf.emulator_policy is EmulatorPolicy.ISOLATE:
            return "emulator threads get one more dedicated CPU (S3)"
        return "emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)"
    if key in _REASONS:
        return _REASONS[key]
    return next(why for start, why in _FAMILY_REASONS.items() if key.startswith(start))
