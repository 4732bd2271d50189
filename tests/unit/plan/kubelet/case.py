# SPDX-License-Identifier: Apache-2.0
"""A machine, its kubelet's settings and pods: as the oracle reads it, and our answer to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wirespeed.model.plan.kubelet import ContainerRequest, KubeletSettings, PodRequest
from wirespeed.plan.kubelet.admission import Given, Kubelet
from wirespeed.plan.kubelet.devices import PluginDevice
from wirespeed.plan.kubelet.errors import KubeletHang, KubeletStartError
from wirespeed.plan.kubelet.machine import Machine

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """Pods are in the order of their admission."""

    machine: Machine
    settings: KubeletSettings
    plugins: Mapping[str, tuple[PluginDevice, ...]]
    pods: tuple[PodRequest, ...]


def document(case: Case) -> Document:
    """Return the case as kubernetes/oracle/case.go reads it."""
    machine, settings = case.machine, case.settings
    return {
        "cpus": [
            [cpu, place.core, place.node, place.socket, place.cache]
            for cpu, place in sorted(machine.cpus.items())
        ],
        "nodes": [
            {
                "id": node.id,
                "memory": node.memory,
                "huge_pages": node.huge_pages,
                "distances": node.distances,
            }
            for node in machine.nodes
        ],
        "settings": {
            "reserved_cpus": settings.reserved_cpus,
            "cpu_policy": "static" if settings.static_cpus else "none",
            "cpu_options": dict.fromkeys(sorted(settings.cpu_options), "true"),
            "memory_policy": "Static" if settings.static_memory else "None",
            "reserved_memory": [
                {"node": r.node, "page_kib": r.page_kib, "bytes": r.bytes}
                for r in settings.reserved_memory
            ],
            "topology": settings.topology,
            "scope": settings.scope,
            "topology_options": (
                {"prefer-closest-numa-nodes": "true"} if settings.prefer_closest else {}
            ),
        },
        "plugins": {
            name: [{"id": d.id, "node": d.node} for d in devices]
            for name, devices in case.plugins.items()
        },
        "pods": [
            {"name": pod.name, "containers": [_container(c) for c in pod.containers]}
            for pod in case.pods
        ],
    }


def _container(container: ContainerRequest) -> Document:
    return {
        "name": container.name,
        "role": container.role,
        "cpu_m": container.cpu_m,
        "cpu_limit_m": container.cpu_limit_m,
        "memory": container.memory,
        "memory_limit": container.memory_limit,
        "huge_pages": container.huge_pages,
        "devices": dict(container.devices),
    }


def ours(case: Case) -> Document:
    """Return our prediction in the form of the oracle's answer."""
    try:
        kubelet = Kubelet(case.machine, case.settings, case.plugins)
    except KubeletStartError as error:
        return {"start_error": str(error)}
    pods: list[Document] = []
    try:
        for pod in case.pods:
            answer = kubelet.admit(pod)
            if answer.is_admitted:
                pods.append({"containers": [_given(given) for given in answer.containers]})
            else:
                pods.append({"reason": answer.reason, "message": answer.message})
    except KubeletHang:
        return {"hung": True}
    found: Document = {}
    if pods:
        found["pods"] = pods
    if case.settings.static_cpus and kubelet.shared_cpus:
        found["shared"] = list(kubelet.shared_cpus)
    return found


def _given(given: Given) -> Document:
    memory = sorted([_type(b.page_kib), b.bytes, list(b.nodes)] for b in given.memory)
    return {
        "cpus": list(given.cpus),
        "nodes": None if given.nodes is None else list(given.nodes),
        "memory": memory,
        "devices": {resource: list(ids) for resource, ids in given.devices},
    }


def _type(page_kib: int) -> str:
    """Return the resource name of memory of this page size."""
    if page_kib == 0:
        return "memory"
    for unit, size in (("Gi", 1 << 20), ("Mi", 1 << 10)):
        if page_kib % size == 0:
            return f"hugepages-{page_kib // size}{unit}"
    return f"hugepages-{page_kib}Ki"


def line(case: Case) -> str:
    return json.dumps(document(case), separators=(",", ":"))
