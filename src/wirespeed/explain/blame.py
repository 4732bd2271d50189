# SPDX-License-Identifier: Apache-2.0
"""Blame the VNF, the switch, its settings, the generator or the host for lost frames.

A full ring shows where frames were lost, not why. Other evidence shows the cause: ended or stopped
programs, empty buffer pools, upcalls, deleted flows, unused queues, other programs on the polling
CPUs. Each suspect has the number of frames that it explains. Suspects that noise cannot mimic come
first, then those that explain most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from wirespeed.explain.blame_change import changes
from wirespeed.explain.blame_heat import heat
from wirespeed.explain.blame_host import generator, host
from wirespeed.explain.blame_kernel import kernel_time, most_in_kernel
from wirespeed.explain.blame_switch import links, nodes, queues, rings, upcalls
from wirespeed.explain.blame_time import interrupts, moved, threads
from wirespeed.explain.blame_vnf import vnfs
from wirespeed.explain.causes import meaning_of
from wirespeed.explain.interface import Measured
from wirespeed.explain.loss import BY_SETTINGS
from wirespeed.explain.seen import Seen
from wirespeed.explain.stages import time_left
from wirespeed.explain.sum_trials import seen
from wirespeed.explain.suspect import STRAY, Suspect, figure
from wirespeed.model.result.explanation import Explanation, Proposal
from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.words import frames as frames_of
from wirespeed.model.words import share

# Suspects with specific evidence come before those found by elimination.
_SUSPICIONS: tuple[Callable[[Seen], Iterable[Suspect]], ...] = (
    changes, threads, moved, kernel_time, interrupts, heat, vnfs, upcalls, links, queues, nodes,
    rings, generator, host,
)  # fmt: skip


# Share of the loss that a foremost suspect explains.
ENOUGH = 0.5


@dataclass(frozen=True, slots=True)
class Blame:
    """Suspects of a point, those that explain most first, with their evidence."""

    point: Measured
    found: Seen
    suspects: tuple[Suspect, ...]

    @classmethod
    def of(cls, point: Measured) -> Blame:
        """Sum all trials of the point and rank the suspects."""
        found = seen(point.result, point.plan)
        return cls(point, found, _ranked(point, found))

    def foremost(self) -> Iterator[Explanation]:
        """Yield suspects that explain most of the loss, unless settings explain more."""
        yield from (s.explanation for s in self.suspects if _leads(self.found, s))

    def lesser(self) -> Iterator[Explanation]:
        """Yield suspects that explain less than the foremost ones."""
        for suspect in self.suspects:
            if not suspect.harmless and not _leads(self.found, suspect):
                yield suspect.explanation

    def harmless(self) -> Iterator[Explanation]:
        """Yield findings that explain no loss; their limit ends with "_harmless"."""
        for suspect in self.suspects:
            if suspect.harmless:
                told = suspect.explanation
                yield replace(told, limit=f"{told.limit}_harmless")

    def not_found(self) -> Iterator[Explanation]:
        """Report that no suspect explains most of the loss, with the checks that were made.

        A stage that was busy all the time needs no other cause.
        """
        found = self.found
        if not found.drops or found.lost <= STRAY * found.intended or self.point.sut.limits_itself:
            return
        if any(_leads(found, suspect) for suspect in self.suspects):
            return
        (hop, cause), frames = found.drops.most_common(1)[0]
        known = found.dropped(BY_SETTINGS) >= ENOUGH * found.lost
        if cause is not DropCause.UNKNOWN and (known or not _had_time(self.point, cause)):
            return
        weaker = [
            f"{s.explanation.limit} ({frames_of(s.frames)})"
            for s in self.suspects
            if not s.harmless
        ]
        checked = ", ".join((*weaker, *_checked(found)))
        where = self._where(Drop(hop, cause, frames))
        yield Explanation(
            "unaccounted" if cause is DropCause.UNKNOWN else "cause_not_found",
            f"Cause not found: {frames_of(found.lost)} of {frames_of(found.intended)} were lost "
            f"({share(found.lost / found.intended)}), most at {where}. Not: {checked} (checked).",
            (figure("lost", found.lost, "frames"), figure(f"lost at {hop}", frames, "frames")),
            Proposal(
                "Repeat at a lower load, and compare `perf record -C CPU` of the CPUs that poll."
            ),
            hop=hop,
        )

    def _where(self, drop: Drop) -> str:
        """Name the place of the most drops, with the directions that do not close there."""
        meaning = meaning_of(drop, self.point.sut)
        ways = [way for place, way in self.found.unclosed if place == drop.hop]
        of_ways = drop.cause is DropCause.UNKNOWN and ways
        way = f" in direction {' and '.join(ways)}" if of_ways else ""
        return f"{drop.hop}{way} ({meaning.split(':')[0]})"


def _checked(found: Seen) -> Iterator[str]:
    """Yield each check without a finding, with the value that rules it out."""
    if found.spent:
        worst = max(s.not_running_ns / max(1, s.elapsed_ns) for s in found.spent.values())
        yield f"polling threads not running (at most {share(worst)} of the time)"
        yield f"their time in the kernel (at most {share(most_in_kernel(found))})"
    used = max((ns / found.time_ns for ns in found.shares.values()), default=0.0)
    yield f"other programs (at most {share(used)} of a CPU)"
    yield f"steal ({share(found.steal_ns / found.time_ns)})"
    if found.interrupts:
        most = max(found.interrupts.values()) / found.time_ns * 1e9
        yield f"interrupts (at most {most:,.0f}/s of one source)"
    yield f"changed settings ({len(found.changed)})"


def _had_time(point: Measured, cause: DropCause) -> bool:
    """Return whether the stage behind a full ring had time left in every trial."""
    trials = [t for t in point.result.here if any(d.cause is cause for d in t.observation.drops)]
    return all(time_left(point, trial, cause) is not None for trial in trials)


def _leads(found: Seen, suspect: Suspect) -> bool:
    if suspect.harmless or suspect.frames < found.dropped(BY_SETTINGS):
        return False
    return found.lost <= STRAY * found.intended or suspect.frames >= ENOUGH * found.lost


def _ranked(point: Measured, found: Seen) -> tuple[Suspect, ...]:
    """Return the suspects, those that explain most first, each type once per hop.

    A SUT that limits itself has no suspects.
    """
    if point.sut.limits_itself or not found.offered:
        return ()
    suspects = [suspect for each in _SUSPICIONS for suspect in each(found)]
    suspects.sort(key=lambda suspect: (not suspect.certain, -suspect.frames))
    once: dict[tuple[str, str | None], Suspect] = {}
    for suspect in suspects:
        once.setdefault((suspect.explanation.limit, suspect.explanation.hop), suspect)
    return tuple(once.values())
