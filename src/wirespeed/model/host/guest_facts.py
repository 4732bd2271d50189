# SPDX-License-Identifier: Apache-2.0
"""Define the facts of a host's guests, and of Nova's settings for guests there.

None means unknown or absent, as in facts.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wirespeed.model.input.text import FilePath, Label, Line, VfAddress, Word


@dataclass(frozen=True, slots=True)
class VcpuPin:
    vcpu: int
    cpus: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GuestPort:
    """A guest's network interface; `kind` is libvirt's type, e.g. vhostuser, bridge or hostdev."""

    kind: Word
    queues: int = 1
    path: FilePath | None = None
    pci: VfAddress | None = None


@dataclass(frozen=True, slots=True)
class Guest:
    """A running libvirt domain, or a stopped server that keeps its place on the host.

    `huge_page_kib` is None without huge pages and 0 for any size. `node_memory_kib` has one entry
    for each of `memory_nodes`; empty means equal parts.
    """

    name: Label
    vcpus: int
    memory_kib: int
    pins: tuple[VcpuPin, ...] = ()
    emulator_cpus: tuple[int, ...] | None = None
    memory_nodes: tuple[int, ...] = ()
    huge_page_kib: int | None = None
    ports: tuple[GuestPort, ...] = ()
    host_devices: tuple[VfAddress, ...] = ()
    cpu_mode: Word | None = None
    cpu_model: Line | None = None
    node_memory_kib: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NovaFacts:
    """Settings in nova.conf; None if unset, so that Nova's default applies."""

    path: FilePath
    dedicated_cpus: tuple[int, ...] | None = None
    shared_cpus: tuple[int, ...] | None = None
    vcpu_pin_set: tuple[int, ...] | None = None
    enabled_filters: tuple[Word, ...] | None = None
    device_specs: tuple[Line, ...] = ()
    aliases: tuple[Line, ...] = ()
    cpu_mode: Word | None = None
    cpu_models: tuple[Line, ...] = ()
    cpu_extra_flags: tuple[Word, ...] = ()
    reserved_memory_mib: int | None = None

    @property
    def guest_cpus(self) -> tuple[int, ...] | None:
        """CPUs for pinned guests: cpu_dedicated_set, or the older vcpu_pin_set."""
        return self.dedicated_cpus if self.dedicated_cpus is not None else self.vcpu_pin_set


@dataclass(frozen=True, slots=True)
class Flavor:
    """A Nova flavor, as in the output of `openstack flavor list --long`."""

    name: Label
    vcpus: int
    memory_mib: int
    extra_specs: Mapping[Label, Line] = field(default_factory=dict)
