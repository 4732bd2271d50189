# SPDX-License-Identifier: Apache-2.0
"""Read flavors from a file that `openstack flavor list --long -f json` wrote."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from wirespeed.document.text_file import read_text_file
from wirespeed.model.errors import BadInput, faulty_file
from wirespeed.model.host.guest_facts import Flavor
from wirespeed.model.input.bounded import load_json

_NEXT = "Write it with `openstack flavor list --long -f json > FILE`."
# Older clients print the properties as text: hw:cpu_policy='dedicated', hw:numa_nodes='1'.
_PROPERTY = re.compile(r"([^\s,=]+)='([^']*)'")


def load(path: Path) -> tuple[Flavor, ...]:
    """Return the flavors in file order.

    Raises BadInput that names every invalid entry.
    """
    try:
        rows = load_json(read_text_file(path))
    except OSError as fault:
        raise BadInput(f"flavor file {path} cannot be read: {fault.strerror}", _NEXT) from fault
    except ValueError as fault:
        raise BadInput(f"flavor file {path} is not JSON: {fault}", _NEXT) from None
    if not isinstance(rows, list):
        raise BadInput(f"flavor file {path} holds no list", _NEXT)
    flavors, faults = [], []
    for number, row in enumerate(rows, start=1):
        try:
            flavors.append(_flavor(row))
        except (KeyError, TypeError, ValueError) as fault:
            faults.append(f"entry {number}: {_reason(fault)}")
    if faults:
        raise faulty_file(f"flavor file {path}", faults, _NEXT)
    return tuple(flavors)


def _flavor(row: Any) -> Flavor:
    return Flavor(
        name=str(row["Name"]),
        vcpus=int(row["VCPUs"]),
        memory_mib=int(row["RAM"]),
        extra_specs=_properties(row["Properties"]),
    )


def _properties(raw: Any) -> dict[str, str]:
    if isinstance(raw, dict):
        return {str(key): str(value) for key, value in raw.items()}
    if raw is None or isinstance(raw, str):
        return dict(_PROPERTY.findall(raw or ""))
    raise TypeError(f"Properties is neither an object nor text: {raw!r}")


def _reason(fault: Exception) -> str:
    return f"has no {fault}" if isinstance(fault, KeyError) else str(fault)
