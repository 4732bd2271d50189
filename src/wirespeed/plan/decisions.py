# SPDX-License-Identifier: Apache-2.0
"""Find the decisions in a plan or a part of it, each with its path."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from wirespeed.model.plan.plan import Decision

# One step from the plan to a value: the field, and the item's name if the field has several.
Step = tuple[str, str]
_ITEM_NAMES = ("host", "name", "address")


def decisions(
    value: Any, steps: tuple[Step, ...] = ()
) -> Iterator[tuple[tuple[Step, ...], Decision[Any]]]:
    """Yield every Decision below a value, with the steps to it."""
    if isinstance(value, Decision):
        yield steps, value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from decisions(getattr(value, field.name), (*steps, (field.name, "")))
    elif isinstance(value, tuple):
        for item in value:
            names = (getattr(item, key, None) for key in _ITEM_NAMES)
            name = next((n for n in names if isinstance(n, str)), "")
            yield from decisions(item, (*steps[:-1], (steps[-1][0], name)))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from decisions(item, (*steps[:-1], (steps[-1][0], key)))


def dotted(steps: tuple[Step, ...]) -> str:
    """Return the steps as text, e.g. vswitch.pmd_cpus or nics[0000:5e:00.0].driver."""
    return ".".join(f"{field}[{item}]" if item else field for field, item in steps)
