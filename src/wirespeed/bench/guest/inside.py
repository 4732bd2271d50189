# SPDX-License-Identifier: Apache-2.0
"""Prepare a running guest as a host of the bench: changes, NICs, huge pages.

Changes inside a guest end with it, so none of them is journalled.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath

from wirespeed.bench.guest.overlay import GuestPort, Vf
from wirespeed.bench.host.change import Change
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.hugepages import reserved
from wirespeed.bench.interface import BenchError
from wirespeed.model.plan.plan import HugePages, ProcessMemory
from wirespeed.remote.interface import Runner
from wirespeed.remote.pci import SYS_PCI

# The guest has no IOMMU for vfio-pci, and Debian 12's kernel has no VFIO without one. DMA of the
# guest's DPDK reaches only the guest's own memory. The driver also accepts a virtual function,
# which has no INTx: DPDK then logs once that it cannot read interrupts, and polls.
_DRIVER = "uio_pci_generic"
_PAGE_KIB = 2048
_PCI = re.compile(r"/([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?=/|$)")


class EndsWithGuest:
    """Change log of a guest, which forgets everything; see host.ChangeLog."""

    def __init__(self) -> None:
        self._changes: dict[int, Change] = {}

    def note(self, change: Change) -> int:
        number = len(self._changes) + 1
        self._changes[number] = change
        return number

    def undo(self, number: int, runner: Runner, _others: tuple[Change, ...]) -> str | None:
        return self._changes[number].undo(runner)

    def forget(self, _number: int) -> None:
        """Do nothing: a change that was not made needs no undo."""

    def others(self) -> tuple[Change, ...]:
        return ()


def guest_host(runner: Runner, state_dir: Path) -> Host:
    """Return the guest as a host on which programs start."""
    return Host(runner, state_dir, EndsWithGuest())


def nics(runner: Runner, ports: Mapping[str, GuestPort]) -> Mapping[str, str]:
    """Return the PCI address of each NIC, by its MAC address. Raises BenchError if one is absent.

    ports: attachment of each NIC. A VF is found by the slot that the domain gives it: the guest's
    kernel may lack the driver that would report its MAC address.
    """
    given = {mac: port.guest_address for mac, port in ports.items() if isinstance(port, Vf)}
    for mac, address in given.items():
        if not runner.glob(f"{SYS_PCI}/{address}"):
            raise BenchError(f"guest {runner.name} has no device {address}, the VF {mac}")
    return {**given, **_by_mac(runner, [mac for mac in ports if mac not in given])}


def _by_mac(runner: Runner, macs: Collection[str]) -> Mapping[str, str]:
    found = {}
    for path, mac in runner.read_many(runner.glob("/sys/class/net/*/address")).items():
        device = runner.readlink(str(PurePosixPath(path).parent / "device"))
        addresses = _PCI.findall(device)
        if isinstance(mac, str) and addresses:
            found[mac.strip()] = addresses[-1]
    if lacking := sorted(set(macs) - found.keys()):
        raise BenchError(
            f"guest {runner.name} has no NIC {', '.join(lacking)}, but {dict(found) or 'none'}",
            "Check that its kernel has virtio_net.",
        )
    return {mac: found[mac] for mac in macs}


def give_to_dpdk(runner: Runner, addresses: Collection[str]) -> None:
    """Take these PCI devices from the guest's kernel. Raises BenchError."""
    runner.run(["modprobe", _DRIVER])
    for address in addresses:
        device = f"{SYS_PCI}/{address}"
        try:
            runner.write(f"{device}/driver_override", _DRIVER)
            if runner.glob(f"{device}/driver"):
                runner.write(f"{device}/driver/unbind", address)
            runner.write(f"/sys/bus/pci/drivers/{_DRIVER}/bind", address)
        except OSError as fault:
            raise BenchError(
                f"{address} of guest {runner.name} could not be bound to {_DRIVER}: "
                f"{fault.strerror}"
            ) from fault


def reserve(host: Host, memory: ProcessMemory) -> None:
    """Reserve huge pages of the guest for a process. Raises BenchError if memory is too small."""
    pages = -(-memory.memory_mib * 1024 // _PAGE_KIB)
    with reserved(host, [HugePages(node, _PAGE_KIB, pages) for node in memory.nodes]):
        """Nobody else is there to take them."""
