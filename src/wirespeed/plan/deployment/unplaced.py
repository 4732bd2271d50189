# SPDX-License-Identifier: Apache-2.0
"""Explain guests that fit nowhere: shortages of hosts and nodes, and a change that would help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.model.plan.plan import Shortage, Unplaced
from wirespeed.plan.deployment.requested import Requested
from wirespeed.plan.host.partition import HostDraft
from wirespeed.plan.placement.batch import Outcome, Unit
from wirespeed.plan.placement.changes import Candidate, smallest_change
from wirespeed.plan.placement.explain import Lack, why_not
from wirespeed.plan.placement.host import HostShape, HostUse

Key = tuple[HostShape, HostUse]

# A helpful change is searched on this number of host states; each takes some 100 fits.
MOST_CANDIDATES = 20


def explain_unplaced(
    requested: Requested, drafts: Sequence[HostDraft], outcome: Outcome
) -> tuple[Unplaced, ...]:
    """Return one entry per unplaced guest; hosts in equal state are named together."""
    if not outcome.unplaced:
        return ()
    classes = _classes(drafts, outcome)
    unit_of = {number: unit for unit in requested.units for number in unit.guests}
    known: dict[tuple[str, int], tuple[tuple[Shortage, ...], str | None]] = {}
    result = []
    for number in outcome.unplaced:
        vnf, name = requested.guests[number]
        unit = unit_of[number]
        key = (vnf.name, unit.kind)
        if key not in known:
            known[key] = _explain(requested, vnf.name, unit, classes, drafts)
        result.append(Unplaced(name, *known[key]))
    return tuple(result)


def _classes(drafts: Sequence[HostDraft], outcome: Outcome) -> dict[Key, list[int]]:
    classes: dict[Key, list[int]] = {}
    for number, (draft, use) in enumerate(zip(drafts, outcome.uses, strict=True)):
        classes.setdefault((draft.place.shape, use), []).append(number)
    return classes


def _explain(
    requested: Requested,
    vnf: str,
    unit: Unit,
    classes: Mapping[Key, list[int]],
    drafts: Sequence[HostDraft],
) -> tuple[tuple[Shortage, ...], str | None]:
    request = requested.requests[vnf]
    shortages: dict[Lack, list[str]] = {}
    candidates: list[Candidate] = []
    for (shape, use), numbers in classes.items():
        names = [drafts[number].facts.host for number in numbers]
        lacks = why_not(shape, use, request) or _group_lacks(unit, use)
        for lack in lacks:
            shortages.setdefault(lack, []).extend(names)
        if len(candidates) < MOST_CANDIDATES:
            place = drafts[numbers[0]].place
            start = place.use
            candidates.append(
                Candidate(names[0], shape, use, start.devices_free, start.switch_hz_free)
            )
    found = tuple(
        Shortage(tuple(sorted(names)), lack.node, lack.resource, lack.needed, lack.available)
        for lack, names in shortages.items()
    )
    return found, smallest_change(candidates, request)


def _group_lacks(unit: Unit, use: HostUse) -> tuple[Lack, ...]:
    """Return the shortage if the guest alone would fit, but its group does not."""
    anti_affinity = sorted(unit.anti_affinity & use.groups)
    if anti_affinity:
        return (Lack(None, "anti-affinity group", ", ".join(anti_affinity), "a member runs here"),)
    size = len(unit.guests)
    return (Lack(None, "room for its affinity group", f"{size} guests together", "fewer fit"),)
