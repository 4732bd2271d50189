# SPDX-License-Identifier: Apache-2.0
"""Assign polling threads to switch, network functions and generator, and report their load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.explain.interface import Measured
from wirespeed.model.result.explanation import Resource
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import PollingThread
from wirespeed.model.result.trial import Trial

# Load of the busiest thread, 0 to 1, from which a stage has no time left.
FULL = 0.9

# Stage that is short of CPU time when a ring overflows for that cause.
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
    """Threads of a trial that do the same work."""

    resource: Resource
    threads: tuple[PollingThread, ...]
    shared: tuple[str, ...] = ()
    """Network functions that run as tasks of these threads."""

    @property
    def busiest(self) -> PollingThread | None:
        """Busiest thread; None if no thread measures its load."""
        known = [thread for thread in self.threads if thread.busy_share is not None]
        return max(known, key=lambda thread: thread.busy_share or 0.0, default=None)

    @property
    def busy_share(self) -> float | None:
        return None if self.busiest is None else self.busiest.busy_share


def stage(point: Measured, trial: Trial, resource: Resource) -> PollingStage:
    """Return the stage of a resource; it has no threads if the point lacks the stage."""
    threads = trial.observation.threads
    found = tuple(thread for thread in threads if _resource(point, thread) is resource)
    generator = point.plan.generator_host.generator if point.plan is not None else None
    inside = generator.shared if generator is not None else ()
    return PollingStage(resource, found, inside if resource is Resource.GENERATOR else ())


def _resource(point: Measured, thread: PollingThread) -> Resource | None:
    """Return the resource of a thread; None for a thread that only watches."""
    if thread.role == "generator":
        return Resource.GENERATOR
    if thread.role != "sut":
        return None
    owner = thread.name.partition("/")[0]
    return Resource.FUNCTION if owner in _functions(point) else Resource.SWITCH


def _functions(point: Measured) -> Sequence[str]:
    return [guest.name for guest in point.plan.sut_host.guests] if point.plan is not None else ()


def stage_behind(point: Measured, cause: DropCause) -> Resource | None:
    """Return the resource whose CPU time is short when a ring overflows for that cause.

    Returns None if the cause is not a full ring.
    """
    resource = _BEHIND.get(cause)
    if resource is Resource.SWITCH and point.plan is not None and not _has_switch(point):
        return Resource.FUNCTION
    return resource


def _has_switch(point: Measured) -> bool:
    return point.plan is not None and point.plan.sut_host.vswitch is not None


def time_left(point: Measured, trial: Trial, cause: DropCause) -> PollingThread | None:
    """Return the busiest thread of the stage behind a full ring if its load is below FULL.

    In that case the ring was too short, and the thread was fast enough. Returns None otherwise.
    """
    resource = stage_behind(point, cause)
    if resource is None or resource is Resource.GENERATOR:
        return None
    busiest = stage(point, trial, resource).busiest
    if busiest is None or (busiest.busy_share or 0.0) >= FULL:
        return None
    return busiest
