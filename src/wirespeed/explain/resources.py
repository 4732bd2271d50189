# SPDX-License-Identifier: Apache-2.0
"""Report the use of each resource at a point, and the resource that limits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from wirespeed.explain.decisive import decisive
from wirespeed.explain.interface import Measured
from wirespeed.explain.stages import stage_behind, time_left
from wirespeed.explain.uses.host import scheduling, steal
from wirespeed.explain.uses.path import balance, copies, link, queues
from wirespeed.explain.uses.polling import function, generator, switch
from wirespeed.model.result.explanation import Explanation, Resource, ResourceState, ResourceUse
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.reason import BLAMES
from wirespeed.model.result.trial import Trial

_USES: tuple[Callable[[Measured, int, Trial], ResourceUse], ...] = (
    switch, function, generator, link, copies, queues, balance, scheduling, steal,
)  # fmt: skip

# Limiting resource of the explanations that are not causes of drops.
LIMITS = {
    **{blame.limit: blame.resource for blame in BLAMES},
    "shared_lcore": Resource.GENERATOR,
    "shared_partner": Resource.GENERATOR,
    "shared_control": Resource.SCHEDULING,
    "generator": Resource.GENERATOR,
    "link": Resource.LINK,
    "pauses": Resource.QUEUES,
    "smt_siblings": Resource.SCHEDULING,
    "pmd_core_shared": Resource.SCHEDULING,
    "steal": Resource.STEAL,
    "generator_core_shared": Resource.GENERATOR,
    "kernel_time": Resource.SCHEDULING,
    "page_faults": Resource.SCHEDULING,
    "upcalls": Resource.SWITCH,
    "flows_deleted": Resource.SWITCH,
    "pmd_off_node": Resource.SWITCH,
    "queue_imbalance": Resource.BALANCE,
    "small_ring": Resource.QUEUES,
    "slow_vnf": Resource.FUNCTION,
    "vnf_stopped": Resource.FUNCTION,
    "vnf_restarted": Resource.FUNCTION,
    "vnf_buffers": Resource.FUNCTION,
}


def resources(point: Measured, found: Sequence[Explanation]) -> tuple[ResourceUse, ...]:
    """Return the use of every resource, the limiting one first.

    found: explanations of the point. Returns nothing for TCP, which has the server's verdict, for
    emulated points, and for points without a trial that counts.
    """
    decided = decisive(point)
    if decided is None or point.result.emulated is not None:
        return ()
    limits = limiting(point, found)
    uses = [use(point, *decided) for use in _USES]
    marked = [
        replace(use, state=ResourceState.LIMITS) if use.resource is limits else use for use in uses
    ]
    return tuple(sorted(marked, key=lambda use: use.state is not ResourceState.LIMITS))


def limiting(point: Measured, found: Sequence[Explanation]) -> Resource | None:
    """Return the resource of the first explanation that implies one; None if none does."""
    for explanation in found:
        if explanation.limit in _CAUSES:
            resource = _overflowing(point, DropCause(explanation.limit))
        else:
            resource = LIMITS.get(explanation.limit)
        if resource is not None:
            return resource
    return None


_CAUSES = frozenset(DropCause)


def _overflowing(point: Measured, cause: DropCause) -> Resource | None:
    """Return the stage behind a full ring, or QUEUES if that stage had time left."""
    decided = decisive(point)
    if decided is not None and time_left(point, decided[1], cause) is not None:
        return Resource.QUEUES
    return stage_behind(point, cause)
