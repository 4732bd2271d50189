# SPDX-License-Identifier: Apache-2.0
"""Bind the NIC ports that a study names to DPDK, and return them to the kernel.

Only named ports are touched. A port with the default route or an ssh session is rejected: losing it
would cut off the operator.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from wirespeed.bench.host.changes import PciBound
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import BenchError
from wirespeed.host.needed_interfaces import needed_interfaces
from wirespeed.model.errors import BadInput
from wirespeed.model.host.lab import is_pci
from wirespeed.remote.interface import ProgramMissing, Runner
from wirespeed.remote.pci import SYS_PCI, driver_of

_DRIVER = "vfio-pci"
# Bifurcated drivers: DPDK uses the device next to the kernel driver.
BIFURCATED = ("mlx5_core", "mlx4_core", "mana")
# Bridge drivers, which VFIO leaves bound.
_BRIDGES = ("pcieport", "shpchp")


def give_ports_to_dpdk(host: Host, ports: Sequence[str]) -> None:
    """Bind the named PCI ports to vfio-pci.

    Ports of bifurcated drivers (e.g. mlx5_core) stay where they are. Raises BadInput for a port
    that does not exist or that this host needs, and BenchError when it cannot be bound.
    """
    addresses = [port for port in ports if is_pci(port)]
    for address in addresses:
        check_spare(host.runner, address)
    bind(host, addresses)


def check_spare(runner: Runner, address: str) -> None:
    """Raise BadInput for a port that does not exist, or that this host needs."""
    if not runner.glob(f"{SYS_PCI}/{address}"):
        raise BadInput(
            f"sut.ports: there is no PCI device {address} on this host",
            "`ls /sys/class/net/*/device -l` lists the addresses of the network interfaces.",
        )
    needed = needed_interfaces(runner)
    # virtio adds one directory level.
    patterns = (f"{SYS_PCI}/{address}/net/*", f"{SYS_PCI}/{address}/virtio*/net/*")
    for name in (os.path.basename(path) for path in runner.glob(*patterns)):
        if name in needed:
            raise BadInput(
                f"sut.ports: {address} is {name}, which carries {needed[name]}",
                "Name a port that this host can do without.",
            )


def bind(host: Host, addresses: Sequence[str]) -> None:
    """Bind devices to vfio-pci; DPDK can open them at once. Raises BenchError when that fails."""
    for address in addresses:
        _bind(host, address)
    if addresses:
        _await_lookups(host.runner)


def _bind(host: Host, address: str) -> None:
    runner = host.runner
    device = f"{SYS_PCI}/{address}"
    was = driver_of(runner, address)
    if was == _DRIVER or was in BIFURCATED:
        return
    if not runner.glob(f"/sys/bus/pci/drivers/{_DRIVER}"):
        raise BenchError(
            f"{address} cannot be given to DPDK: the kernel has no {_DRIVER} driver loaded",
            f"Run `modprobe {_DRIVER}`.",
        )
    _check_group(runner, address)
    is_virtual = bool(runner.glob(f"{device}/physfn"))
    host.note(PciBound(address, was, enabled=is_virtual))
    try:
        runner.write(f"{device}/driver_override", _DRIVER)
        if was:
            runner.write(f"{device}/driver/unbind", address)
        if is_virtual:
            # The kernel logs the first enabling of a VF after each of its resets. In the midst of
            # VFIO's opening, that would have the journal look the VF up; see _await_lookups.
            runner.write(f"{device}/enable", "1")
        runner.write(f"/sys/bus/pci/drivers/{_DRIVER}/bind", address)
    except OSError as fault:
        raise BenchError(
            f"{address} could not be bound to {_DRIVER}: {fault.strerror}",
            "Is the IOMMU on (intel_iommu=on or amd_iommu=on), and are you root?",
        ) from fault


def await_udev(runner: Runner) -> None:
    """Wait until udev has handled all events, where it is present."""
    with suppress(ProgramMissing):
        runner.run(["udevadm", "settle", "--timeout=20"], check=False)


def _await_lookups(runner: Runner) -> None:
    """Wait until udev and the journal have looked up the devices that the kernel reported.

    A lookup locks its device for a moment, and VFIO does not wait: opening and resetting the device
    fail with EAGAIN. A host without these programs, such as a container, has no lookups.
    """
    await_udev(runner)
    with suppress(ProgramMissing):
        runner.run(["journalctl", "--sync"], check=False)


def _check_group(runner: Runner, address: str) -> None:
    """Check the IOMMU group: VFIO opens all devices of a group or none."""
    group = f"{SYS_PCI}/{address}/iommu_group"
    if not runner.glob(group):
        raise BenchError(
            f"{address} cannot be given to DPDK: it is in no IOMMU group, so the IOMMU is off",
            "Switch it on in the firmware, and boot with intel_iommu=on or amd_iommu=on.",
        )
    for path in runner.glob(f"{group}/devices/*"):
        other = os.path.basename(path)
        driver = driver_of(runner, other)
        if other != address and driver not in ("", _DRIVER, *_BRIDGES):
            raise BenchError(
                f"{address} cannot be given to DPDK alone: {other}, which {driver} drives, is in "
                "the same IOMMU group",
                "Put the NIC into a slot that isolates it (PCIe ACS), or name a port of another.",
            )
