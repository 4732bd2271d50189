# SPDX-License-Identifier: Apache-2.0
"""Which hosts does a lab have, how are they reached, and which of their ports may be measured with?

Ports of the same name on two hosts are cabled to each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wirespeed.model.text import PCI_ADDRESS, Device, FilePath, HostName, Line, Name


@dataclass(frozen=True, slots=True)
class LabHost:
    """ssh: its address, ssh://[user@]host[:port]; None: the machine that wirespeed runs on.

    ports: by name, a PCI address each or the name of a kernel's interface. wsdp: the path of the
    data plane program there; None: the source tree's or the one in PATH.
    """

    ssh: Line | None = None
    ports: Mapping[Name, Device] = field(default_factory=dict)
    wsdp: FilePath | None = None


@dataclass(frozen=True, slots=True)
class Lab:
    """The hosts by name. source: the file that says so, for messages."""

    hosts: Mapping[HostName, LabHost]
    source: str = ""


def is_pci(device: str) -> bool:
    """Whether a port is named by a PCI address, such as 0000:3b:00.0."""
    return PCI_ADDRESS.fits(device)
