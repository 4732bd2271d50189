# SPDX-License-Identifier: Apache-2.0
"""Locate a host's PCI devices in sysfs, and read the driver of one."""

from __future__ import annotations

import posixpath

from wirespeed.remote.interface import Runner

SYS_PCI = "/sys/bus/pci/devices"
# Driver that gives a device to a program or a guest.
VFIO = "vfio-pci"


def driver_of(runner: Runner, address: str) -> str:
    """Return the driver that a PCI device is bound to; "" for none."""
    link = f"{SYS_PCI}/{address}/driver"
    return posixpath.basename(runner.readlink(link)) if runner.glob(link) else ""
