# SPDX-License-Identifier: Apache-2.0
"""Read the value of a kernel file, and compare values that the kernel formats in its own way."""

from __future__ import annotations

import re
from collections.abc import Hashable

from wirespeed.model.cpuset import parse_list, parse_mask

# Lists such as "0-2,5". The second group prints lists although some of its names say mask.
_LIST = re.compile(
    r".*(_list|/cpulist|/cpuset\.(cpus|mems))|/proc/sys/.*/(watchdog_cpumask|ip_local_reserved_ports)"
)
# Hexadecimal masks, which the kernel prints in lower case, with zeros and commas.
_MASK = re.compile(
    r".*/(\w*smp_affinity|\w*cpumask|[rx]ps_cpus|xps_rxqs|rps_default_mask|\w*_bitmap)"
)
# Booleans of modules are written as 1 and printed as Y.
_MODULE = "/sys/module/"
_BOOLEANS = {"1": "Y", "y": "Y", "0": "N", "n": "N"}


def selected(text: str) -> str:
    """Return the value in a kernel file; of a choice such as "always [madvise] never" the chosen
    one.
    """
    chosen = re.search(r"\[(\S+)\]", text)
    return chosen[1] if chosen else text.strip()


def same_value(path: str, one: str, other: str) -> bool:
    """Return whether two values of a kernel file are equal but for the kernel's formatting."""
    return _meaning(path, one) == _meaning(path, other)


def _meaning(path: str, value: str) -> Hashable:
    """Return what a value means: CPUs of a list or a mask, else its words."""
    try:
        if _LIST.fullmatch(path):
            return parse_list(value)
        if _MASK.fullmatch(path):
            return parse_mask(value)
    except ValueError:
        pass  # compared by its words
    words = tuple(value.split())
    return tuple(_BOOLEANS.get(word, word) for word in words) if path.startswith(_MODULE) else words
