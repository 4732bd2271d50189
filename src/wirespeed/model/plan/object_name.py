# SPDX-License-Identifier: Apache-2.0
"""Name an object of Kubernetes after a name of the workload."""

from __future__ import annotations

import re
from collections.abc import Iterable


def object_name(name: str) -> str:
    """Return a label of DNS: lower case letters, digits and '-', at most 63 as the name has."""
    return re.sub("[^a-z0-9-]", "-", name.lower()).strip("-") or "object"


def same_names(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names that several of these share in Kubernetes, each with those that do."""
    made: dict[str, list[str]] = {}
    for name in names:
        made.setdefault(object_name(name), []).append(name)
    return {short: found for short, found in made.items() if len(found) > 1}
