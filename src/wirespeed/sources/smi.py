# SPDX-License-Identifier: Apache-2.0
"""Read how many system management interrupts a CPU has served since power-on.

MSR_SMI_COUNT (0x34) of Intel's processors, through the module msr; others have no such count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

_SMI_COUNT, _OCTETS = 0x34, 8
_DEVICES = Path("/dev/cpu")


def smi_counts(cpus: Iterable[int], devices: Path = _DEVICES) -> Mapping[int, int]:
    """Return the count of each CPU of this machine; CPUs that do not tell are absent."""
    found = {}
    for cpu in cpus:
        try:
            device = os.open(devices / str(cpu) / "msr", os.O_RDONLY)
        except OSError:
            continue
        try:
            value = os.pread(device, _OCTETS, _SMI_COUNT)
        except OSError:
            continue
        finally:
            os.close(device)
        if len(value) == _OCTETS:
            # The upper half of the register is reserved.
            found[cpu] = int.from_bytes(value, "little") & 0xFFFF_FFFF
    return found
