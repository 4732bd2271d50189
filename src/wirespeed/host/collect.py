# SPDX-License-Identifier: Apache-2.0
"""What are the facts of the host behind this Runner?

Reads /sys and /proc and asks Open vSwitch and libvirt where they run; changes nothing, needs no
root, and lists in `HostFacts.missing` what it could not learn and why.
"""

from __future__ import annotations

from wirespeed.host.cpu import read_cpus
from wirespeed.host.kernel import read_iommu_units, read_irqs, read_kernel, read_uio_drivers
from wirespeed.host.memory import read_memory_channels, read_nodes
from wirespeed.host.pci import read_default_route_interface, read_interfaces, read_pci
from wirespeed.host.reader import Reader
from wirespeed.model.facts import HostFacts
from wirespeed.remote.interface import Runner


def collect(runner: Runner) -> HostFacts:
    """Everything wirespeed knows how to learn of a host, in one pass."""
    reader = Reader(runner)
    cpu = read_cpus(reader)
    pci = read_pci(reader)
    return HostFacts(
        host=runner.name,
        kernel=read_kernel(reader),
        cpus=cpu.cpus,
        nodes=read_nodes(reader, tuple(c.id for c in cpu.cpus if c.online)),
        cpu_model=cpu.model,
        cpu_flags=cpu.flags,
        caches=cpu.caches,
        memory_channels=read_memory_channels(reader),
        pci=pci,
        interfaces=read_interfaces(reader, pci),
        default_route_interface=read_default_route_interface(reader),
        irqs=read_irqs(reader),
        iommu_units=read_iommu_units(reader),
        uio_drivers=read_uio_drivers(reader),
        missing=reader.missing,
    )
