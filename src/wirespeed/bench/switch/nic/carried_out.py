# SPDX-License-Identifier: Apache-2.0
"""Tell which VF settings a NIC enforces, rather than its driver only storing them. Pure.

A setting that was read back shows the driver's memory. Only frames show whether the device obeys
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# Subsystem vendor of PCI devices that QEMU emulates (docs/specs/pci-ids.rst).
_QEMU_SUBSYSTEM = "0x1af4"
_NOT_TESTED = "set and read back; not tested whether the NIC acts by it"
_NOT_EMULATED = "not emulated: set and read back, but QEMU's device has no such registers"
_BY_PATH = "frames pass on no other way: each link is the only one in its VLAN"
_BY_DRIVER = "the driver of the physical function acts by it; the device has no such register"

REAL: Mapping[str, str] = MappingProxyType(
    {
        "mac": "frames to it arrive",
        "vlan": _BY_PATH,
        "spoofchk": _NOT_TESTED,
        "trust": _NOT_TESTED,
        "max_tx_rate": _NOT_TESTED,
    }
)
# hw/net/igb_core.c reads neither DTXSWC's anti-spoofing bits nor any rate scheduler.
EMULATED: Mapping[str, str] = MappingProxyType(
    {**REAL, "spoofchk": _NOT_EMULATED, "trust": _BY_DRIVER, "max_tx_rate": _NOT_EMULATED}
)


def is_emulated(subsystem_vendor: str) -> bool:
    """Return whether QEMU emulates the NIC.

    subsystem_vendor: as sysfs has it for the physical function.
    """
    return subsystem_vendor.strip() == _QEMU_SUBSYSTEM


def carried_out(subsystem_vendor: str, *, one_vlan: bool = False) -> Mapping[str, str]:
    """Return a clause for each setting. one_vlan: whether all ports are in the same VLAN."""
    found = EMULATED if is_emulated(subsystem_vendor) else REAL
    return {**found, "vlan": _NOT_TESTED} if one_vlan else found
