# SPDX-License-Identifier: Apache-2.0
"""Follow the frames of a trial: their path, the rate at each place, and the losses.

Rates and losses are of the whole trial, excluded time included: ports and hops do not record when.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wirespeed.explain.decisive import decisive
from wirespeed.explain.interface import Measured
from wirespeed.explain.loss import total_drops
from wirespeed.explain.stages import stage
from wirespeed.model.result.explanation import Resource
from wirespeed.model.result.hop_counts import INGRESS, Drop
from wirespeed.model.result.observation import PollingThread
from wirespeed.model.result.series import BACKLOG
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.sut import SutDescription
from wirespeed.model.words import counted, percent
from wirespeed.report.text.limits import measured
from wirespeed.store.records import PointRecord

_GENERATOR = "tg"


@dataclass(frozen=True, slots=True)
class Loss:
    """Frames lost for one cause."""

    cause: str
    frames: int
    fps: float
    share: float
    """Share of what was offered on all paths."""


@dataclass(frozen=True, slots=True)
class Hop:
    """Something that frames pass."""

    name: str
    what: str
    """Load of its threads, or the CPU time that it has, in words."""
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A cable from one hop to the next."""

    ends: tuple[str, str]
    fps: float
    share: float
    """Share of what was offered on all paths."""
    streams: int
    """Number of streams that the port at its end counts together."""
    losses: tuple[Loss, ...] = ()
    """Losses at either end."""


@dataclass(frozen=True, slots=True)
class PathView:
    """The path with the largest loss, from the generator to the generator.

    The order is hops[i], links[i], hops[i + 1] and so on.
    """

    trial: int
    """Number of the trial."""
    load_fps: float
    duration_s: float
    hops: tuple[Hop, ...]
    links: tuple[Link, ...]
    elsewhere: tuple[tuple[str, Loss], ...]
    """Losses outside this path, by hop."""
    further: int
    """Number of other paths."""
    holds: int
    """Capacity of one direction's shallowest stage, in frames."""
    queued: tuple[float, float] | None
    """Median and maximum of frames queued on the path, over the trial's windows; None where
    unknown.
    """


def path_view(point: PointRecord) -> PathView | None:
    """Return the path; None where the point has no paths, or ports have no counts."""
    found = measured(point)
    decided = decisive(found) if found is not None else None
    if found is None or decided is None or not found.sut.paths or not decided[1].observation.ports:
        return None
    return _View(found, point, *decided).view()


@dataclass(frozen=True, slots=True)
class _View:
    point: Measured
    record: PointRecord
    number: int
    trial: Trial

    def view(self) -> PathView:
        sut, seen = self.point.sut, self.trial.observation
        path = max(sut.paths, key=lambda each: sum(d.frames for d in self._on(each)))
        joints = [(path[i], path[i + 1]) for i in range(0, len(path), 2)]
        owners = [_owner(path[0]), *(_owner(end) for _, end in joints)]
        shown = self._on(path)
        elsewhere = [drop for drop in total_drops(self.trial) if drop not in shown]
        return PathView(
            self.number,
            self.trial.intended_load_fps,
            self.trial.duration_s,
            tuple(self._hop(owner, i) for i, owner in enumerate(owners)),
            tuple(self._link(ends, first=i == 0) for i, ends in enumerate(joints)),
            tuple((drop.hop, self._loss(drop)) for drop in elsewhere),
            len(sut.paths) - 1,
            seen.ring_frames,
            self._queued(),
        )

    def _on(self, path: Sequence[str]) -> list[Drop]:
        """Return the drops at this path's places; those at the generator count at its last port."""
        places = {INGRESS, *path, *(_owner(end) for end in path)}
        places |= {f"{a}-{b}" for a, b in zip(path[::2], path[1::2], strict=True)}
        return [drop for drop in total_drops(self.trial) if drop.hop in places]

    def _hop(self, owner: str, position: int) -> Hop:
        losses = self._at({owner}) if owner != _GENERATOR or position else ()
        if owner == _GENERATOR:
            threads = stage(self.point, self.trial, Resource.GENERATOR).threads
            name = "generator" if position == 0 else "generator, receiving"
        elif owner == "switch":
            threads = stage(self.point, self.trial, Resource.SWITCH).threads
            name = self.point.sut.name
        else:
            found = stage(self.point, self.trial, Resource.FUNCTION).threads
            threads = tuple(t for t in found if t.name.partition("/")[0] == owner)
            name = owner
        what = ", ".join(map(_thread_words, threads)) or self._without_threads(owner)
        return Hop(name, what, losses)

    def _without_threads(self, owner: str) -> str:
        shared = stage(self.point, self.trial, Resource.GENERATOR).shared
        return "takes turns with the generator" if owner in shared else ""

    def _link(self, ends: tuple[str, str], first: bool) -> Link:
        counts = {count.port: count for count in self.trial.observation.ports}
        origin, target = (counts.get(end) for end in ends)
        frames = origin.left if origin is not None else target.entered if target is not None else 0
        places = {*ends, f"{ends[0]}-{ends[1]}", *((INGRESS,) if first else ())}
        streams = sum(ends[1] in each for each in self.point.sut.paths)
        offered = self.trial.offered
        return Link(
            ends, frames / self.trial.duration_s, frames / offered if offered else 0.0, streams,
            self._at(places),
        )  # fmt: skip

    def _at(self, places: set[str]) -> tuple[Loss, ...]:
        return tuple(self._loss(d) for d in total_drops(self.trial) if d.hop in places)

    def _loss(self, drop: Drop) -> Loss:
        offered = self.trial.offered
        share = drop.frames / offered if offered else 0.0
        return Loss(str(drop.cause), drop.frames, drop.frames / self.trial.duration_s, share)

    def _queued(self) -> tuple[float, float] | None:
        series = self.record.trials[self.number - 1].series
        found = next((each.values for each in series if each.name == BACKLOG), ())
        known = [value for value in found if value >= 0]
        return (statistics.median(known), max(known)) if known else None


def why_no_path(sut: SutDescription | None) -> str:
    """Return why there is no picture of the path, a sentence."""
    if sut is None or not sut.paths:
        return "What lies between the generator's ports was not stored, or is not known."
    return "What each port counted was not stored with its trials."


def queue_words(view: PathView) -> Iterator[str]:
    """Yield sentences about queues on the path, and about what the picture omits."""
    if view.holds:
        yield f"The smallest queue of a direction holds {view.holds:,} frames."
    if view.queued is not None:
        median, most = view.queued
        yield f"Frames queued on the path: {median:,.0f} in the median, {most:,.0f} at most."
    for hop, loss in view.elsewhere:
        yield f"Lost elsewhere, at {hop}: {loss.frames:,} frames ({loss.cause})."
    if view.further:
        yield (f"{counted(view.further, 'further path')}; this is the one on which most was lost.")


def _owner(end: str) -> str:
    return end.partition(":")[0]


def _thread_words(thread: PollingThread) -> str:
    busy = "" if thread.busy_share is None else f" busy {percent(thread.busy_share, 0)}"
    cpu = f" on CPU {thread.cpu}" if thread.cpu >= 0 else ""
    return f"{thread.name}{cpu}{busy}"
