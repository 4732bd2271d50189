# SPDX-License-Identifier: Apache-2.0
"""Define the hosts of a testbed file: access and the ports available for measurements.

Ports with the same name on two hosts are cabled to each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wirespeed.model.input.text import PCI_ADDRESS, Device, FilePath, HostName, Line, Name


@dataclass(frozen=True, slots=True)
class LabHost:
    """One host of a testbed file."""

    ssh: Line | None = None
    """Address, ssh://[user@]host[:port]; None: the machine that wirespeed runs on."""
    ports: Mapping[Name, Device] = field(default_factory=dict)
    """PCI address or kernel interface of each port, by port name."""
    wsdp: FilePath | None = None
    """Path of the data plane program there; None: the source tree's, or the one in PATH."""


@dataclass(frozen=True, slots=True)
class Lab:
    """The hosts of a testbed file, by name."""

    hosts: Mapping[HostName, LabHost]
    source: str = ""
    """Path of the file, for messages."""


def is_pci(device: str) -> bool:
    """Return whether a port is a PCI address, such as 0000:3b:00.0."""
    return PCI_ADDRESS.fits(device)
