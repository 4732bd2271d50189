# SPDX-License-Identifier: Apache-2.0
"""Recognise hosts of the same hardware, which was bought as the same model.

The digest excludes everything that an administrator, a BIOS or a failed component can change. These
attributes show as differences within a group: SMT, NUMA nodes per package, memory, PCIe links, the
firmware.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from wirespeed.model.host.facts import HostFacts

DIGEST_LENGTH = 12


def hardware_lines(facts: HostFacts) -> tuple[str, ...]:
    """Return the hardware that the digest covers, one line per component."""
    packages = {cpu.package for cpu in facts.cpus if cpu.online}
    cores = {(cpu.package, cpu.core) for cpu in facts.cpus if cpu.online}
    devices = Counter(
        f"{device.vendor}:{device.device}"
        for device in facts.pci
        if device.physical_function is None
    )
    return (
        f"{len(packages)} x {facts.cpu_model or 'CPU of unknown model'}",
        f"{len(cores)} cores",
        *(f"{count} x PCI {name}" for name, count in sorted(devices.items())),
    )


def hardware_digest(facts: HostFacts) -> str:
    """Return the first 12 hexadecimal digits of the SHA-256 of these lines."""
    text = json.dumps(hardware_lines(facts))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]
