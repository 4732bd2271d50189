# SPDX-License-Identifier: Apache-2.0
"""Read uncore frequencies, the cache ways of DDIO, and the mitigations of processor weaknesses.

Source: admin-guide/pm/intel_uncore_frequency_scaling.rst and ABI/testing/sysfs-devices-system-cpu
of Linux. IIO_LLC_WAYS (MSR 0xC8B) of Intel's servers: A. Farshin et al., Reexamining Direct Cache
Access, USENIX ATC 2020, section 4.1.
"""

from __future__ import annotations

import re

from wirespeed.host.cpu import CpuFacts
from wirespeed.host.reader import Reader
from wirespeed.model.host.platform import Uncore, Vulnerability

UNCORE = "/sys/devices/system/cpu/intel_uncore_frequency"
VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"
DDIO_WAYS = ["rdmsr", "--all", "--hexadecimal", "0xc8b"]
_MIN, _MAX, _HIGHEST = "min_freq_khz", "max_freq_khz", "initial_max_freq_khz"
_VALUE = re.compile("[0-9a-f]{1,16}")


def read_uncore(reader: Reader) -> tuple[Uncore, ...] | None:
    """Return the range of each part of each package; None without the kernel's driver."""
    files = reader.many([f"{UNCORE}/*/{name}" for name in (_MIN, _MAX, _HIGHEST)], "uncore")
    folders = sorted({path.rpartition("/")[0] for path in files})
    found = tuple(
        Uncore(
            name=folder.rpartition("/")[2],
            min_khz=reader.number(files, f"{folder}/{_MIN}", 0),
            max_khz=reader.number(files, f"{folder}/{_MAX}", 0),
            highest_khz=reader.number(files, f"{folder}/{_HIGHEST}", 0) or None,
        )
        for folder in folders
        if f"{folder}/{_MIN}" in files and f"{folder}/{_MAX}" in files
    )
    return found or None


def read_vulnerabilities(reader: Reader) -> tuple[Vulnerability, ...] | None:
    """Return every weakness that the kernel knows; None for a kernel that reports none."""
    files = reader.many([f"{VULNERABILITIES}/*"], "vulnerabilities")
    found = tuple(
        Vulnerability(path.rpartition("/")[2], text.strip()) for path, text in sorted(files.items())
    )
    return found or None


def read_ddio_ways(reader: Reader, cpu: CpuFacts) -> int | None:
    """Return the fewest ways of any package; None for another processor than Intel's.

    A hypervisor may answer 0 for a register that it does not emulate, so guests are not asked.
    """
    if "Intel" not in cpu.model or "hypervisor" in cpu.flags:
        return None
    printed = reader.output(
        DDIO_WAYS, "ddio_ways", failed="needs MSR 0xc8b",
        needs="needs rdmsr (package msr-tools), the module msr and root",
    )  # fmt: skip
    if printed is None:
        return None
    values = reader.matches("ddio_ways", "rdmsr", printed, _VALUE, "a hexadecimal number")
    return min((int(value[0], 16).bit_count() for value in values), default=None)
