# SPDX-License-Identifier: Apache-2.0
"""Which polling threads are the switch's, a network function's or the generator's, and how busy?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.explain.interface import Measured
from wirespeed.model.result.explanation import Resource
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import PollingThread
from wirespeed.model.result.trial import Trial

# A stage whose busiest thread has frames to handle for more of the time has no time left.
FULL = 0.9

# Whose CPU time lacks where a ring overflows for that cause.
_BEHIND = {
    DropCause.RX_RING_FULL: Resource.SWITCH,
    DropCause.BACKLOG_FULL: Resource.SWITCH,
    DropCause.SOCKET_FULL: Resource.SWITCH,
    DropCause.VNF_TX_RING_FULL: Resource.SWITCH,
    DropCause.VHOST_TX_RING_FULL: Resource.FUNCTION,
    DropCause.VNF_RING_FULL: Resource.FUNCTION,
    DropCause.VNF_RX_RING_FULL: Resource.FUNCTION,
    DropCause.TAP_RING_FULL: Resource.FUNCTION,
    DropCause.TG_RX_RING_FULL: Resource.GENERATOR,
    DropCause.PARTNER_RING_FULL: Resource.GENERATOR,
}


@dataclass(frozen=True, slots=True)
class PollingStage:
    """The threads of a trial that do the same. shared: network functions are tasks of them."""

    resource: Resource
    threads: tuple[PollingThread, ...]
    shared: tuple[str, ...] = ()

    @property
    def busiest(self) -> PollingThread | None:
        """None where no thread measures how busy it is."""
        known = [thread for thread in self.threads if thread.busy_share is not None]
        return max(known, key=lambda thread: thread.busy_share or 0.0, default=None)

    @property
    def busy_share(self) -> float | None:
        return None if self.busiest is None else self.busiest.busy_share


def stage(point: Measured, trial: Trial, resource: Resource) -> PollingStage:
    """The stage of that resource; without threads where the point has none."""
    threads = trial.observation.threads
    found = tuple(thread for thread in threads if _resource(point, thread) is resource)
    generator = point.plan.generator_host.generator if point.plan is not None else None
    inside = generator.shared if generator is not None else ()
    return PollingStage(resource, found, inside if resource is Resource.GENERATOR else ())


def _resource(point: Measured, thread: PollingThread) -> Resource | None:
    """None for a thread that no frame passes: it watches."""
    if thread.role == "generator":
        return Resource.GENERATOR
    if thread.role != "sut":
        return None
    owner = thread.name.partition("/")[0]
    return Resource.FUNCTION if owner in _functions(point) else Resource.SWITCH


def _functions(point: Measured) -> Sequence[str]:
    return [guest.name for guest in point.plan.sut_host.guests] if point.plan is not None else ()


def stage_behind(point: Measured, cause: DropCause) -> Resource | None:
    """Whose CPU time lacks where a ring overflows for that cause; None: no ring overflows."""
    resource = _BEHIND.get(cause)
    if resource is Resource.SWITCH and point.plan is not None and not _has_switch(point):
        return Resource.FUNCTION
    return resource


def _has_switch(point: Measured) -> bool:
    return point.plan is not None and point.plan.sut_host.vswitch is not None


def time_left(point: Measured, trial: Trial, cause: DropCause) -> PollingThread | None:
    """The busiest thread of the stage behind a full ring, where even that had frames to handle for
    less than FULL of the time: the ring was too short, not the thread too slow."""
    resource = stage_behind(point, cause)
    if resource is None or resource is Resource.GENERATOR:
        return None
    busiest = stage(point, trial, resource).busiest
    if busiest is None or (busiest.busy_share or 0.0) >= FULL:
        return None
    return busiest
