# SPDX-License-Identifier: Apache-2.0
"""Give containers devices as the kubelet's Device Manager does.

Devices of one resource on one NUMA node are equal; the kubelet takes any of them unless the plugin
prefers some. This takes those with the lowest ids. Source: Kubernetes v1.34.1,
pkg/kubelet/cm/devicemanager/manager.go and topology_hints.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.model.plan.kubelet import ContainerRequest, ContainerRole, PodRequest
from wirespeed.plan.kubelet.errors import unexpected
from wirespeed.plan.kubelet.hints import Hint, Hints, mask_of, masks
from wirespeed.plan.kubelet.machine import Machine


@dataclass(frozen=True, slots=True)
class PluginDevice:
    """A device that a plugin reports; `node` is None without topology."""

    id: str
    node: int | None = None


class Devices:
    """Devices of one node by resource, and those of each container."""

    def __init__(self, machine: Machine, plugins: Mapping[str, Sequence[PluginDevice]]) -> None:
        self._machine = machine
        self._plugins = {name: {d.id: d.node for d in found} for name, found in plugins.items()}
        self._free = {name: set(found) for name, found in self._plugins.items()}
        self.given: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {}

    def hints(self, pod: PodRequest, container: ContainerRequest | None) -> Hints:
        """Return the hints of a container; of the whole pod for None."""
        request = self._known(dict(container.devices) if container else _of_pod(pod))
        return {resource: self._hints(resource, count) for resource, count in request.items()}

    def _known(self, request: Mapping[str, int]) -> dict[str, int]:
        return {resource: n for resource, n in request.items() if resource in self._plugins}

    def _hints(self, resource: str, request: int) -> list[Hint] | None:
        nodes = self._plugins[resource]
        if all(node is None for node in nodes.values()):
            return None
        if len(self._free[resource]) < request:
            return []
        every = [node.id for node in self._machine.nodes]
        smallest = len(every)
        found = []
        for chosen in masks(every):
            if sum(node in chosen for node in nodes.values()) >= request:
                smallest = min(smallest, len(chosen))
            if sum(nodes[device] in chosen for device in self._free[resource]) >= request:
                found.append(chosen)
        return [Hint(mask_of(nodes), len(nodes) == smallest) for nodes in found]

    def allocate(self, pod: PodRequest, container: ContainerRequest, hint: Hint) -> None:
        """Give the container its devices. Raises KubeletRefusal."""
        for resource, count in self._known(dict(container.devices)).items():
            if not count:
                continue
            if not self._plugins[resource]:
                raise unexpected(
                    f"no healthy devices present; cannot allocate unhealthy devices {resource}"
                )
            free = self._free[resource]
            if len(free) < count:
                raise unexpected(
                    f"requested number of devices unavailable for {resource}. "
                    f"Requested: {count}, Available: {len(free)}"
                )
            order = sorted(free, key=lambda d: self._order(resource, d, hint))
            chosen = tuple(sorted(order[:count]))
            free.difference_update(chosen)
            self.given.setdefault(pod.name, {}).setdefault(container.name, {})[resource] = chosen

    def _order(self, resource: str, device: str, hint: Hint) -> tuple[bool, str]:
        node = self._plugins[resource][device]
        aligned = hint.affinity is not None and node is not None and hint.affinity >> node & 1
        return (not aligned, device)

    def release(self, pod: str) -> None:
        """Take back all devices of a pod."""
        for resources in self.given.pop(pod, {}).values():
            for resource, devices in resources.items():
                self._free[resource].update(devices)


def _of_pod(pod: PodRequest) -> dict[str, int]:
    """Return the sum over the containers that run together; init containers ask for none."""
    found: dict[str, int] = {}
    for container in pod.containers:
        if container.role is ContainerRole.INIT:
            continue
        for resource, count in container.devices:
            found[resource] = found.get(resource, 0) + count
    return found
