# SPDX-License-Identifier: Apache-2.0
"""Predict what a kubelet gives the containers of pods that it admits one after another.

The order within a pod is the kubelet's: devices, CPUs, then memory of each container. A refused pod
gives back what its first containers got. Source: Kubernetes v1.34.1,
pkg/kubelet/cm/topologymanager/scope_container.go, scope_pod.go, container_manager_linux.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.model.plan.kubelet import (
    ContainerRequest,
    KubeletSettings,
    PodRequest,
    TopologyPolicy,
    TopologyScope,
)
from wirespeed.plan.kubelet.cpus import StaticCpus
from wirespeed.plan.kubelet.devices import Devices, PluginDevice
from wirespeed.plan.kubelet.errors import KubeletRefusal
from wirespeed.plan.kubelet.hints import Hint, Hints, merge, nodes_of
from wirespeed.plan.kubelet.machine import Machine
from wirespeed.plan.kubelet.memory import MemoryBlock, StaticMemory
from wirespeed.plan.kubelet.settings import check

_NO_HINT = Hint(None, False)


@dataclass(frozen=True, slots=True)
class Given:
    """Resources that a container gets."""

    container: str
    cpus: tuple[int, ...] = ()
    """Exclusive CPUs; empty: the container runs in the shared pool."""
    nodes: tuple[int, ...] | None = None
    """NUMA nodes that the Topology Manager chose; None: any."""
    memory: tuple[MemoryBlock, ...] = ()
    devices: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Resource and ids."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The kubelet's answer to one pod; `reason` and `message` are empty if it is admitted."""

    pod: str
    reason: str = ""
    message: str = ""
    containers: tuple[Given, ...] = ()

    @property
    def is_admitted(self) -> bool:
        return not self.reason


class Kubelet:
    """A kubelet with its state; each call of `admit` is one pod more."""

    def __init__(
        self,
        machine: Machine,
        settings: KubeletSettings,
        plugins: Mapping[str, Sequence[PluginDevice]] | None = None,
    ) -> None:
        """Raise KubeletStartError if the kubelet does not start with these settings."""
        check(settings, machine)
        self._machine = machine
        self._settings = settings
        self._devices = Devices(machine, plugins or {})
        self._cpus = StaticCpus(machine, settings) if settings.static_cpus else None
        self._memory = StaticMemory(machine, settings) if settings.static_memory else None
        self._hints: dict[tuple[str, str], Hint] = {}

    @property
    def shared_cpus(self) -> tuple[int, ...]:
        """CPUs of containers without exclusive ones."""
        return tuple(sorted(self._cpus.shared if self._cpus else self._machine.everything))

    def admit(self, pod: PodRequest) -> Admission:
        """Return what the pod's containers get, or why it is refused. Raises KubeletHang."""
        for manager in (self._cpus, self._memory):
            if manager:
                manager.begin()
        try:
            self._admit(pod)
        except KubeletRefusal as refusal:
            self.remove(pod.name)
            return Admission(pod.name, refusal.reason, refusal.message)
        return Admission(pod.name, containers=tuple(self._given(pod, c) for c in pod.in_order))

    def remove(self, pod: str) -> None:
        """Take back all that the pod has."""
        self._devices.release(pod)
        if self._cpus:
            self._cpus.release(pod)
        if self._memory:
            self._memory.release(pod)

    def _admit(self, pod: PodRequest) -> None:
        hint = _NO_HINT
        whole = self._settings.scope is TopologyScope.POD
        aligns = self._settings.topology is not TopologyPolicy.NONE
        if aligns and whole:
            hint = self._merged(pod, None)
        for container in pod.in_order:
            if aligns and not whole:
                hint = self._merged(pod, container)
            self._hints[pod.name, container.name] = hint
            self._devices.allocate(pod, container, hint)
            if self._cpus:
                self._cpus.allocate(pod, container, hint)
            if self._memory:
                self._memory.allocate(pod, container, hint)

    def _merged(self, pod: PodRequest, container: ContainerRequest | None) -> Hint:
        providers: list[Hints] = [self._devices.hints(pod, container)]
        if self._cpus:
            providers.append(self._cpus.hints(pod, container))
        if self._memory:
            providers.append(self._memory.hints(pod, container))
        hint, admitted = merge(self._settings, self._machine, providers)
        if not admitted:
            raise KubeletRefusal(
                "TopologyAffinityError", "Resources cannot be allocated with Topology locality"
            )
        return hint

    def _given(self, pod: PodRequest, container: ContainerRequest) -> Given:
        cpus = self._cpus.given.get(pod.name, {}) if self._cpus else {}
        memory = self._memory.given.get(pod.name, {}) if self._memory else {}
        devices = self._devices.given.get(pod.name, {}).get(container.name, {})
        affinity = self._hints[pod.name, container.name].affinity
        return Given(
            container=container.name,
            cpus=tuple(sorted(cpus.get(container.name, ()))),
            nodes=None if affinity is None else nodes_of(affinity),
            memory=tuple(memory.get(container.name, ())),
            devices=tuple(sorted(devices.items())),
        )
