# SPDX-License-Identifier: Apache-2.0
"""Who gets which core, memory and queue on each host, and why?

One Plan type serves deployments (`wirespeed plan`) and benches (`wirespeed run`): a bench takes its
cores, memory and queues from here alone. Every decided value is a `Decision` and carries `because`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    """A value and the reason for it, in one sentence with its source."""

    value: T
    because: str


@dataclass(frozen=True, slots=True)
class HugePages:
    """`count` pages of `size_kib` on one NUMA node."""

    node: int
    size_kib: int
    count: int


@dataclass(frozen=True, slots=True)
class VswitchPlan:
    """Open vSwitch with DPDK on one host. socket_memory_mib has one entry per NUMA node."""

    main_cpus: Decision[tuple[int, ...]]
    pmd_cpus: Decision[tuple[int, ...]]
    socket_memory_mib: Decision[tuple[int, ...]]
    rx_queues: Decision[int]
    descriptors: Decision[int]
    mtu: Decision[int]


@dataclass(frozen=True, slots=True)
class GuestPlan:
    """One network function and the CPUs its data plane polls on."""

    name: str
    cpus: Decision[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class GeneratorPlan:
    """The traffic generator's CPUs. `shared` names guests that poll on the same CPUs."""

    cpus: Decision[tuple[int, ...]]
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HostPlan:
    """Everything decided for one host. A part that the host does not run is None or empty."""

    host: str
    huge_pages: Decision[tuple[HugePages, ...]]
    vswitch: VswitchPlan | None = None
    guests: tuple[GuestPlan, ...] = ()
    generator: GeneratorPlan | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    hosts: tuple[HostPlan, ...]
