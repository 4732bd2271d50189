# SPDX-License-Identifier: Apache-2.0
"""Can this trial be believed? Decided before its loss is looked at, so that it cannot be favoured.

A thread that stops is harmless as long as the rings hold what arrives meanwhile. So the longest
tolerable pause is what the path's shallowest ring holds, divided by the load: 1,024 frames at
7 Mpps are 146 us, at 0.8 Mpps 1.3 ms. A longer pause can cost frames that the SUT would have
forwarded, or hand it a burst that nobody intended: whether the trial passed or failed, it says
nothing. docs/explanation/how-a-trial-is-judged.md has the reasoning and its figures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.cpus import SHARED_CORE_RATIO, Proximity
from wirespeed.model.trial import Observation, ThreadHealth


class Purpose(StrEnum):
    """What a trial's figures are used for; that decides which disturbance spoils them."""

    LOSS = "loss"
    """To ask whether frames were lost: one pause longer than the rings is enough to spoil it."""
    RATE = "rate"
    """To read a rate under overload, where loss is expected: pauses count by their share."""
    BURST = "burst"
    """To ask whether a burst far shorter than a second passes: no time for shares to mean much."""


class Fault(StrEnum):
    STOPPED = "stopped"
    """A thread did not run for longer than the trial can bear."""
    SHORT = "short"
    """The generator ran undisturbed and still could not keep up: the load is beyond it."""
    SHARED = "shared"
    """Something else used a polling core: in a virtual machine, another one on its other thread."""
    MOVED = "moved"
    """The CPUs did not share what they shared in the trials before."""
    RACED = "raced"
    """The counters contradict each other."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """Why a trial is not believed; `reason` names the evidence with its numbers."""

    fault: Fault
    reason: str


@dataclass(frozen=True, slots=True)
class ValidityRules:
    """How much disturbance does a trial bear? Ratios are shares of the trial's time or frames."""

    # A fifth of the 0.5% that searches resolve: the offered load is then the intended one as far
    # as any figure here can tell.
    max_unsent_ratio: float = 0.001
    # Time taken from a thread, in pauses that the rings bear, takes at most the same share off what
    # it can carry: what is found may be 1% too low, never too high. 0.25% would be below what
    # searches resolve, and no virtual machine with two CPUs gives a poller that.
    max_stopped_ratio: float = 0.01
    # A rate under overload is where a search starts, not what it finds: read to 2%.
    max_stopped_ratio_of_rate: float = 0.02
    max_slow_ratio: float = SHARED_CORE_RATIO
    # Where nobody knows how deep the rings are (an external SUT): what 1,024 descriptors, a usual
    # depth, hold at 10 GbE line rate with 64 B frames, 14.88 Mpps.
    pause_without_ring_ns: float = 68_800.0


USUAL = ValidityRules()


def pause_limit_ns(rules: ValidityRules, ring_frames: int, load_fps: float) -> float:
    """How long, in ns, may a thread stop before the rings overflow? load_fps: of one direction."""
    if not ring_frames:
        return rules.pause_without_ring_ns
    return math.inf if load_fps <= 0 else ring_frames / load_fps * 1e9


def judge(
    seen: Observation,
    rules: ValidityRules,
    purpose: Purpose,
    pause_load_fps: float,
    proximity: Proximity | None = None,
) -> Invalid | None:
    """Why the trial cannot be believed, or None. Reads no loss.

    proximity: of the CPUs when the search began; None where that is not known.

    pause_load_fps: the load, over all directions, that bounds the pauses. Usually the trial's own;
    but a latency trial at 10% of the PDR bears no longer pause than one at the PDR, and beyond the
    MRR, where the SUT drops frames anyway, a trial need not bear shorter ones than at the MRR.
    """
    moved = _moved(seen, proximity)
    if moved is not None:
        return moved
    one_way_fps = pause_load_fps / max(1, len(seen.directions))
    limit_ns = pause_limit_ns(rules, seen.ring_frames, one_way_fps)
    for thread in seen.threads:
        reason = None
        if purpose is not Purpose.RATE:
            reason = _paused_too_long(thread, seen, limit_ns)
        if reason is None and purpose is not Purpose.BURST:
            reason = _stopped_too_often(thread, seen, rules, purpose)
        if reason is not None:
            return Invalid(Fault.STOPPED, reason)
    # Before what it leads to: a generator whose core is shared may fall short.
    return _shared(seen, rules) or _short(seen, rules) or _raced(seen)


def _longest_pause_ns(thread: ThreadHealth, steal_ns: int) -> tuple[int, str]:
    """The longest time the thread may have stopped at once, and what says so.

    A thread that times its own polls knows it. Of any other only the sum of its waits is known, and
    how often it was made to wait: the mean is taken. A longer wait among them lets the trial lose
    frames, so it can only lower what is found, never raise it. All steal may have hit at once.
    """
    if thread.max_gap_ns is not None:
        return thread.max_gap_ns, f"was away from its queues for {_us(thread.max_gap_ns)} at once"
    wait_ns = thread.runqueue_wait_ns // max(1, thread.involuntary_switches)
    if steal_ns > wait_ns:
        return steal_ns, f"may have stopped for {_us(steal_ns)} at once (steal)"
    return wait_ns, f"stopped for {_us(wait_ns)} at a time (run-queue wait)"


def _paused_too_long(thread: ThreadHealth, seen: Observation, limit_ns: float) -> str | None:
    pause_ns, what = _longest_pause_ns(thread, seen.steal_ns)
    if pause_ns <= limit_ns:
        return None
    holds = f"the rings hold {seen.ring_frames} frames" if seen.ring_frames else "unknown rings"
    return (
        f"{_who(thread)} {what}, the limit is {_us(limit_ns)} ({holds}); {_evidence(thread, seen)}"
    )


def _shared(seen: Observation, rules: ValidityRules) -> Invalid | None:
    pulse = seen.slowest
    if pulse is None or pulse.slow_ratio <= rules.max_slow_ratio:
        return None
    return Invalid(
        Fault.SHARED,
        f"CPU {pulse.cpu} was slower than it can be for {pulse.slow_ratio:.0%} of the trial, the "
        f"limit is {rules.max_slow_ratio:.0%}: something else used its core",
    )


def _stopped_ns(thread: ThreadHealth, steal_ns: int) -> int:
    """How long the thread was stopped in all.

    A thread that times its own polls does so while traffic flows, and whatever stopped it shows as
    a gap, steal included. The kernel's sums also hold what happened just before and after.
    """
    if thread.gaps_ns is not None:
        return thread.gaps_ns
    return thread.runqueue_wait_ns + steal_ns


def _stopped_too_often(
    thread: ThreadHealth, seen: Observation, rules: ValidityRules, purpose: Purpose
) -> str | None:
    stopped_ns = _stopped_ns(thread, seen.steal_ns)
    limit = rules.max_stopped_ratio
    if purpose is Purpose.RATE:
        limit = rules.max_stopped_ratio_of_rate
    ratio = stopped_ns / (seen.duration_s * 1e9)
    if ratio <= limit:
        return None
    return (
        f"{_who(thread)} was stopped for {ratio:.2%} of the trial, the limit is {limit:.2%}; "
        f"{_evidence(thread, seen)}"
    )


def _moved(seen: Observation, first: Proximity | None) -> Invalid | None:
    if seen.proximity is None:
        return None
    before, after = seen.proximity
    if before.like(after) and (first is None or (first.like(before) and first.like(after))):
        return None
    once = f", {first} when the search began" if first else ""
    return Invalid(
        Fault.MOVED,
        f"the hypervisor has moved the CPUs: they were {before} before the trial, {after} after it"
        f"{once}",
    )


def _short(seen: Observation, rules: ValidityRules) -> Invalid | None:
    for way in seen.directions:
        if way.intended and way.unsent / way.intended > rules.max_unsent_ratio:
            return Invalid(
                Fault.SHORT,
                f"generator short of its intended load: {way.unsent} of {way.intended} frames "
                f"({way.unsent / way.intended:.2%}) of direction {way.name} were not offered in "
                f"time, the limit is {rules.max_unsent_ratio:.2%}",
            )
    return None


def _raced(seen: Observation) -> Invalid | None:
    for way in seen.directions:
        if way.received > way.offered:
            return Invalid(
                Fault.RACED,
                f"counters raced: direction {way.name} received {way.received} of "
                f"{way.offered} offered frames",
            )
    return None


def _who(thread: ThreadHealth) -> str:
    return f"{thread.role} thread {thread.name}"


def _evidence(thread: ThreadHealth, seen: Observation) -> str:
    return (
        f"{thread.involuntary_switches} involuntary switches, "
        f"{_us(thread.runqueue_wait_ns)} run-queue wait, {_us(seen.steal_ns)} steal"
    )


def _us(ns: float) -> str:
    return f"{ns / 1e3:,.0f} us"
