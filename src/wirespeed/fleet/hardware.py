# SPDX-License-Identifier: Apache-2.0
"""Which hosts are the same hardware? Those of which the same was bought.

What an administrator, a BIOS or a failed part can change is left out of the digest, so that it is
seen as a difference within a group: SMT, NUMA nodes per package, memory, PCIe links, the firmware.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from wirespeed.model.facts import HostFacts

DIGEST_LENGTH = 12


def hardware_lines(facts: HostFacts) -> tuple[str, ...]:
    """What the digest is made of, one sentence a part."""
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
    """The first 12 hexadecimal digits of the SHA-256 of these lines."""
    text = json.dumps(hardware_lines(facts))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]
