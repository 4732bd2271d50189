# SPDX-License-Identifier: Apache-2.0
"""Render pods whose VFs and CPUs are claimed by Dynamic Resource Allocation.

The drivers of CPUs and VFs publish one attribute, dra.net/numaNode; a constraint on it aligns both.
The kubelet's Topology Manager does not see claimed devices (kubernetes/website 56232), so its CPU
Manager must be off on these nodes. The CPU driver must publish each CPU as a device: a claim counts
them. Sources: dra-driver-cpu 0a653ba2, README.md; dra-driver-sriov 00b3a8a3, pkg/consts/consts.go.
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.plan.plan import Plan, PodPlan
from wirespeed.model.plan.policy import NicUse
from wirespeed.plan.render.interface import Files, NewFiles, fill
from wirespeed.plan.render.kubernetes import EVICTION_MIB, kube_reserved_mib
from wirespeed.plan.render.pods import (
    MELLANOX,
    NAMESPACE,
    deployment,
    network_names,
    object_names,
)

VF_DRIVER = "sriovnetwork.k8snetworkplumbingwg.io"
_LABEL_MAX = 63
CONSEQUENCE = (
    "The Topology Manager does not see them: with VFs of a device plugin or static CPUs of the "
    "kubelet in the same pod nothing aligns the two, so set cpuManagerPolicy none on these nodes."
)


@dataclass(frozen=True, slots=True)
class Request:
    """One VF of a claim."""

    name: str
    expression: str
    interface: str
    attachment: str
    vf_driver: str


def render(plan: Plan) -> Files:
    """Return dra/POOL/kubelet.yaml, and dra/NAME.yaml of each pod with dra/NAME-claim.yaml."""
    object_names([pool.name for pool in plan.pools])
    names = object_names([pod.name for pod in plan.pods])
    files = NewFiles()
    for pool in plan.pools:
        files[f"dra/{pool.name}/kubelet.yaml"] = fill(
            "kubelet_dra.yaml.j2", pool=pool, kube_reserved=f"{kube_reserved_mib(pool)}Mi",
            eviction=f"{EVICTION_MIB}Mi",
        )  # fmt: skip
    for pod in plan.pods:
        cpus = _claimed_cpus(pod)
        claim = f"{names[pod.name]}-{'vfs' if pod.ports else 'cpus'}" if pod.ports or cpus else ""
        if claim:
            files[f"dra/{pod.name}-claim.yaml"] = fill(
                "claim.yaml.j2", name=claim, namespace=NAMESPACE, consequence=CONSEQUENCE,
                requests=_requests(plan, pod), driver=VF_DRIVER, attribute="dra.net/numaNode",
                cpus=cpus,
            )  # fmt: skip
        files[f"dra/{pod.name}.yaml"] = deployment(plan, pod, {}, claim=claim)
    return files


def _claimed_cpus(pod: PodPlan) -> int:
    """Return the exclusive CPUs of the first container; 0 where it shares its CPUs."""
    cpus, rest = divmod(pod.containers[0].cpu_m.value, 1000)
    return 0 if rest else cpus


def _requests(plan: Plan, pod: PodPlan) -> list[Request]:
    attached = network_names(plan)
    ports = object_names([port.name for port in pod.ports])
    pool = next(pool for pool in plan.pools if pool.name == pod.pool)
    host = next(host for host in plan.hosts if host.host in pool.hosts)
    made = []
    for number, port in enumerate(pod.ports):
        nics = [n for n in host.nics if n.network == port.network and n.use is NicUse.SRIOV]
        wanted = " || ".join(
            f'device.attributes["{VF_DRIVER}"].pfPciAddress == "{nic.address}"' for nic in nics
        )
        kernel = not pod.polls or any(nic.vendor == MELLANOX for nic in nics)
        made.append(
            Request(
                name=_request_name(ports[port.name], number),
                expression=wanted,
                interface=f"net{number + 1}",
                attachment=attached[port.network],
                vf_driver="default" if kernel else "vfio-pci",
            )
        )
    return made


def _request_name(port: str, number: int) -> str:
    """Return the name of a port's request, which has at most 63 characters."""
    return f"vf-{port}" if len(port) <= _LABEL_MAX - len("vf-") else f"vf{number + 1}"
