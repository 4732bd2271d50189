# SPDX-License-Identifier: Apache-2.0
"""Map resources that run short to the audit rules that explain why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from wirespeed.model.host.finding import AuditReport, Finding
from wirespeed.model.result.explanation import Resource, ResourceState, ResourceUse

RULES: Mapping[Resource, tuple[str, ...]] = MappingProxyType({
    # PMD threads on siblings, off the NIC's node, queues across nodes, clocks, idle states.
    Resource.SWITCH: ("WS11", "WS12", "WS13", "WS31", "WS47"),
    # Guests off the NIC's node, in small pages, on one CPU with others, emulator on their CPUs.
    Resource.FUNCTION: ("WS31", "WS39", "WS40", "WS41", "WS43"),
    # Queues and descriptors too few, interrupts and idle states that pause their pollers.
    Resource.QUEUES: ("WS15", "WS16", "WS17", "WS18", "WS32", "WS42", "WS47"),
    # CPUs that others run on: not isolated, ticks, callbacks, siblings, interrupts.
    Resource.SCHEDULING: (
        "WS01", "WS02", "WS03", "WS04", "WS05", "WS06", "WS07", "WS09", "WS10", "WS32", "WS43",
    ),
})  # fmt: skip
_LACK = (ResourceState.LIMITS, ResourceState.DISTURBS)


def related(uses: Iterable[ResourceUse], audits: Iterable[AuditReport]) -> tuple[Finding, ...]:
    """Return failed findings about resources that run short, the most severe of each host first."""
    rules = {rule for use in uses if use.state in _LACK for rule in RULES.get(use.resource, ())}
    return tuple(each for audit in audits for each in audit.failed if each.rule in rules)
