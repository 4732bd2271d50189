# SPDX-License-Identifier: Apache-2.0
"""Report the CPU time per frame of switch, network functions and generator."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.decisive import carried_fps
from wirespeed.explain.interface import Measured
from wirespeed.explain.stages import FULL, PollingStage, stage
from wirespeed.model.result.explanation import EvidenceFigure, Resource, ResourceState, ResourceUse
from wirespeed.model.result.observation import PollingThread
from wirespeed.model.result.trial import Trial
from wirespeed.model.words import loss, mpps, percent

_NAMES = {
    Resource.SWITCH: "the switch",
    Resource.FUNCTION: "the network functions",
    Resource.GENERATOR: "the generator",
}


def switch(point: Measured, number: int, trial: Trial) -> ResourceUse:
    return _polled(point, number, trial, Resource.SWITCH)


def function(point: Measured, number: int, trial: Trial) -> ResourceUse:
    """Report the network functions; without a time if they are tasks of the generator's threads."""
    found = stage(point, trial, Resource.GENERATOR)
    if found.shared:
        names = ", ".join(found.shared)
        takes, their = ("takes", "its") if len(found.shared) == 1 else ("take", "their")
        sentence = (
            f"{names} {takes} turns with the generator, so {their} time is not known separately."
        )
        return ResourceUse(Resource.FUNCTION, ResourceState.NOT_MEASURED, sentence)
    return _polled(point, number, trial, Resource.FUNCTION)


def generator(point: Measured, number: int, trial: Trial) -> ResourceUse:
    """Report the highest offered load, the share of late frames, and the busy time."""
    seen, source = trial.observation, f"trial {number}"
    intended, unsent = seen.total("intended"), seen.total("unsent")
    highest_fps = max(each.offered_fps for each in point.result.here)
    use = _polled(point, number, trial, Resource.GENERATOR)
    late = unsent / intended if intended else 0.0
    figures = (
        EvidenceFigure("highest load offered", highest_fps, "frames/s", "all trials"),
        EvidenceFigure("not offered in time", late, "ratio", source),
    )
    timely = f"{loss(late)} of this load too late" if late else "all of this load in time"
    said = f"It offered up to {mpps(highest_fps)} Mpps, {timely}."
    sentence = f"{said} {use.sentence}" if use.evidence else said
    return ResourceUse(
        Resource.GENERATOR, ResourceState.HAS_ROOM, sentence, (*figures, *use.evidence)
    )


def _polled(point: Measured, number: int, trial: Trial, resource: Resource) -> ResourceUse:
    found = stage(point, trial, resource)
    if not found.threads:
        sentence = f"No thread of {_NAMES[resource]} polls."
        return ResourceUse(resource, ResourceState.ABSENT, sentence)
    if found.busiest is None:
        sentence = f"The threads of {_NAMES[resource]} do not measure how busy they are."
        return ResourceUse(resource, ResourceState.NOT_MEASURED, sentence)
    sentences = [_sentence(point, thread, trial) for thread in _known(found)]
    figures = [f for thread in _known(found) for f in _figures(point, thread, trial, number)]
    state = ResourceState.MEASURED
    if resource is not Resource.GENERATOR and (found.busy_share or 0.0) < FULL:
        state = ResourceState.HAS_ROOM
    return ResourceUse(resource, state, " ".join(sentences), tuple(figures))


def _known(found: PollingStage) -> Iterator[PollingThread]:
    return (thread for thread in found.threads if thread.busy_share is not None)


def frame_ns(thread: PollingThread, trial: Trial) -> float | None:
    """Return the thread's busy time per delivered frame in ns; None if unknown."""
    fps = carried_fps(trial)
    return 1e9 * thread.busy_share / fps if thread.busy_share is not None and fps else None


def _sentence(point: Measured, thread: PollingThread, trial: Trial) -> str:
    cost_ns = frame_ns(thread, trial)
    cycles = _cycles(point, thread, cost_ns)
    where = f" on CPU {thread.cpu}" if thread.cpu >= 0 else ""
    if cost_ns is None:
        return f"{thread.name}{where}: busy {percent(thread.busy_share, 0)}."
    each = f"{cost_ns:.0f} ns" + (f" ({cycles:.0f} cycles)" if cycles is not None else "")
    return f"{thread.name}{where}: busy {percent(thread.busy_share, 0)}, {each} a frame delivered."


def _figures(
    point: Measured, thread: PollingThread, trial: Trial, number: int
) -> Iterator[EvidenceFigure]:
    source = f"trial {number}"
    if thread.busy_share is not None:
        yield EvidenceFigure(f"busy share of {thread.name}", thread.busy_share, "ratio", source)
    if (cost_ns := frame_ns(thread, trial)) is not None:
        derived = f"{source}, busy time / frames forwarded"
        yield EvidenceFigure(f"time of a frame, {thread.name}", cost_ns, "ns", derived)
        if (cycles := _cycles(point, thread, cost_ns)) is not None:
            yield EvidenceFigure(f"cycles of a frame, {thread.name}", cycles, "cycles", derived)


def _cycles(point: Measured, thread: PollingThread, cost_ns: float | None) -> float | None:
    """Convert a time into cycles of the generator host's TSC; None on other hosts."""
    if point.tsc_hz is None or cost_ns is None or thread.host:
        return None
    return cost_ns * point.tsc_hz / 1e9
