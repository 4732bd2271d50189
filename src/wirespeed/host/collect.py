# SPDX-License-Identifier: Apache-2.0
"""Collect the facts of the host behind a Runner.

They come from /sys and /proc, and from Open vSwitch and libvirt where these run. Collecting changes
nothing and needs no root. `HostFacts.missing` lists what could not be read and why.
"""

from __future__ import annotations

from dataclasses import replace

from wirespeed.document.sift import NotOfItsForm, sift
from wirespeed.host.boot_environment import read_boot_environment
from wirespeed.host.cpu import read_cpus
from wirespeed.host.firmware import read_dimms, read_firmware
from wirespeed.host.guests import read_guests
from wirespeed.host.housekeeping import read_housekeeping
from wirespeed.host.kernel import read_iommu_units, read_irqs, read_kernel, read_uio_drivers
from wirespeed.host.memory import read_memory_channels, read_nodes
from wirespeed.host.nova import read_nova
from wirespeed.host.operating_system import read_operating_system
from wirespeed.host.ovs import read_ovs
from wirespeed.host.owners import read_services, read_tuned
from wirespeed.host.pci import read_default_route_interface, read_interfaces, read_pci
from wirespeed.host.platform import read_ddio_ways, read_uncore, read_vulnerabilities
from wirespeed.host.reader import HostUnreadable, Reader
from wirespeed.host.switches import read_switches
from wirespeed.model.host.facts import HostFacts
from wirespeed.remote.interface import Runner


def collect(runner: Runner) -> HostFacts:
    """Return all facts of a host, read in one pass.

    Raises HostUnreadable, which names every invalid value.
    """
    reader = Reader(runner)
    cpu = read_cpus(reader)
    pci = read_pci(reader)
    libvirt = read_guests(reader)
    facts = HostFacts(
        # Hosts of a pool need different names: "localhost" would be the same on each.
        host=reader.text("/proc/sys/kernel/hostname", "host") or runner.name,
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
        ovs=read_ovs(reader),
        switches=read_switches(reader),
        guests=libvirt.guests,
        nova=read_nova(reader),
        flavors=libvirt.flavors,
        firmware=read_firmware(reader),
        dimms=read_dimms(reader),
        housekeeping=read_housekeeping(reader),
        uncore=read_uncore(reader),
        ddio_ways=read_ddio_ways(reader, cpu),
        vulnerabilities=read_vulnerabilities(reader),
        services=read_services(reader),
        tuned=read_tuned(reader),
        boot_environment=read_boot_environment(reader),
        operating_system=read_operating_system(reader),
    )
    reader.raise_faults()
    try:
        facts = sift(facts, reader.lacks)
    except NotOfItsForm as fault:
        raise HostUnreadable(runner.name, [str(fault)]) from None
    return replace(facts, missing=reader.missing)
