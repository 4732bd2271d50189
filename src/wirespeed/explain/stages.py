# SPDX-License-Identifier: Apache-2.0
"""Which polling threads are the switch's, a network function's or the generator's, and how busy?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.explain.interface import Measured
from wirespeed.explain.loss import first_loss
from wirespeed.explain.trial import counted_time
from wirespeed.model.explanation import Resource
from wirespeed.model.trial import DropCause, PollingThread, Stage, Trial

# A stage whose busiest thread has frames to handle for more of the time has no time left.
FULL = 0.9

# Whose CPU time lacks where a ring overflows for that cause.
_BEHIND = {
    DropCause.RX_RING_FULL: Resource.SWITCH,
    DropCause.BACKLOG_FULL: Resource.SWITCH,
    DropCause.VNF_TX_RING_FULL: Resource.SWITCH,
    DropCause.VHOST_TX_RING_FULL: Resource.FUNCTION,
    DropCause.VNF_RING_FULL: Resource.FUNCTION,
    DropCause.VNF_RX_RING_FULL: Resource.FUNCTION,
    DropCause.TAP_RING_FULL: Resource.FUNCTION,
    DropCause.TG_RX_RING_FULL: Resource.GENERATOR,
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


def _resource(point: Measured, thread: PollingThread) -> Resource:
    if thread.role == "generator":
        return Resource.GENERATOR
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


def decisive(point: Measured) -> tuple[int, Trial] | None:
    """The trial that tells most of the limit, with its number: that of the first loss, else of the
    highest load in which some time counts. None where there is no such trial."""
    if (found := first_loss(point.result.trials, point.result)) is not None:
        return found
    counted = [
        (number, trial)
        for number, trial in enumerate(point.result.trials, start=1)
        if trial.stage is not Stage.WARM_UP and counted_time(trial) is not None
    ]
    return max(counted, key=lambda pair: pair[1].intended_load_fps, default=None)


def carried_fps(trial: Trial) -> float:
    """What was forwarded: in undisturbed time where that is known."""
    if trial.gated is not None and trial.gated.receive_fps is not None:
        return trial.gated.receive_fps
    return trial.forwarding_fps
