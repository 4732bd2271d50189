# SPDX-License-Identifier: Apache-2.0
"""Which hosts does a lab have, how are they reached, and which of their ports may be measured with?

Ports of the same name on two hosts are cabled to each other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LabHost:
    """ssh: its address, ssh://[user@]host[:port]; None: the machine that wirespeed runs on.

    ports: by name, a PCI address each or the name of a kernel's interface. wsdp: the path of the
    data plane program there; None: the source tree's or the one in PATH.
    """

    ssh: str | None = None
    ports: Mapping[str, str] = field(default_factory=dict)
    wsdp: str | None = None


@dataclass(frozen=True, slots=True)
class Lab:
    """The hosts by name. source: the file that says so, for messages."""

    hosts: Mapping[str, LabHost]
    source: str = ""


def is_pci(device: str) -> bool:
    """Whether a port is named by a PCI address, such as 0000:3b:00.0."""
    return _PCI.fullmatch(device) is not None
