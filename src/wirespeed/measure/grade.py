# SPDX-License-Identifier: Apache-2.0
"""Grade a point's rate by its amount of clean time, with what keeps it from a better grade."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from wirespeed.measure.verdict import verdict
from wirespeed.model.cpus import placement_words
from wirespeed.model.result.reason import Reason
from wirespeed.model.result.result import Grade, Undisturbed
from wirespeed.model.result.trial import LeftOut, Trial
from wirespeed.model.words import counted

MOST = 0.5
"""A larger clean share of the time is grade B, a smaller one grade C."""
PLACEMENTS_MENTIONED = 2


def undisturbed(
    load_fps: float, trials: Sequence[Trial], width: float, pdr_loss: float
) -> Undisturbed | None:
    """Return the clean time of all trials at a load together; None: there is none."""
    pieces = [trial.gated for trial in trials if trial.gated is not None]
    found = verdict(pieces, width, pdr_loss)
    if not found.windows:
        return None
    return Undisturbed(
        load_fps=load_fps,
        measured_s=sum(trial.duration_s for trial in trials),
        clean_s=found.windows * pieces[0].window_ns / 1e9,
        windows=found.windows,
        runs=found.runs,
        offered=found.offered,
        lost=found.lost,
        loss_bound=found.loss_bound,
        growth=found.growth,
        growth_error=found.growth_error,
        width=width,
        left_out=_without_drained(trials, found.windows),
        steady_s=_steady_s(trials),
    )


def _without_drained(trials: Sequence[Trial], windows: int) -> tuple[LeftOut, ...]:
    """Return the excluded time.

    Windows that wait for draining are not excluded where the verdict rests on queues that shrink
    (verdict.py).
    """
    clean = sum(trial.gated.clean_windows for trial in trials if trial.gated is not None)
    parts = left_out(trials)
    return parts if windows <= clean else tuple(p for p in parts if p.why is not Reason.NOT_DRAINED)


def left_out(trials: Sequence[Trial]) -> tuple[LeftOut, ...]:
    """Return shares of all the trials' time, the largest first."""
    seconds: defaultdict[Reason, float] = defaultdict(float)
    for trial in trials:
        for part in trial.gated.left_out if trial.gated is not None else ():
            seconds[part.why] += part.share * trial.duration_s
    total_s = sum(trial.duration_s for trial in trials)
    parts = [LeftOut(why, taken_s / total_s) for why, taken_s in seconds.items() if taken_s]
    return tuple(sorted(parts, key=lambda part: -part.share))


def grade_of(rests_on: Undisturbed, deciding: Sequence[Trial]) -> Grade:
    """Return the grade of a rate found in clean time, from the trials that decide it."""
    if all(trial.quiet and not _lost_while_disturbed(trial) for trial in deciding):
        return Grade.A
    return Grade.B if rests_on.share > MOST else Grade.C


def _steady_s(trials: Sequence[Trial]) -> float:
    """Return the seconds of trials without noise, drained or not."""
    pieces = [(trial.gated, trial.duration_s) for trial in trials if trial.gated is not None]
    return sum(
        max(piece.clean_windows, piece.steady_windows) / piece.windows * duration_s
        for piece, duration_s in pieces
        if piece.windows
    )


def _lost_while_disturbed(trial: Trial) -> bool:
    """Return whether a quiet trial lost frames only in the little time that it excludes.

    The load then passes, but not without losing a frame: it is not grade A.
    """
    runs = trial.gated.runs if trial.gated is not None else ()
    return trial.lost > 0 and not any(run.lost for run in runs)


def received(mrr_fps: float, trials: Sequence[Trial], width: float) -> Undisturbed | None:
    """Return the evidence of an MRR: all steady time, as an overloaded SUT's queues never drain."""
    pieces = [trial.gated for trial in trials if trial.gated is not None]
    windows = sum(piece.steady_windows for piece in pieces)
    if not windows:
        return None
    return Undisturbed(
        load_fps=mrr_fps,
        measured_s=sum(trial.duration_s for trial in trials),
        clean_s=sum(piece.steady_windows * piece.window_ns for piece in pieces) / 1e9,
        windows=windows,
        runs=sum(len(piece.runs) for piece in pieces),
        offered=sum(piece.steady_offered for piece in pieces),
        lost=sum(piece.steady_lost for piece in pieces),
        loss_bound=1.0,
        growth=0.0,
        growth_error=0.0,
        width=width,
        left_out=tuple(part for part in left_out(trials) if part.why is not Reason.NOT_DRAINED),
        steady_s=_steady_s(trials),
    )


def because(
    grade: Grade,
    rests_on: Undisturbed | None,
    deciding: Sequence[Trial],
    everything: Sequence[Trial],
) -> tuple[str, ...]:
    """Return what keeps the point from a better grade, and what else to know, as sentences."""
    sentences: list[str] = []
    if grade is not Grade.A:
        parts = rests_on.left_out if rests_on is not None else left_out(deciding)
        disturbed = [f"{part.why} {part.share:.1%}" for part in parts]
        if disturbed:
            sentences.append(f"of the time that decides, excluded: {', '.join(disturbed)}")
    for trial in deciding:
        sentences += [
            unseen for unseen in trial.observation.evidence.unseen if unseen not in sentences
        ]
    return (*sentences, *_placements(everything))


def _placements(trials: Sequence[Trial]) -> tuple[str, ...]:
    """Count the trials of each placement, and those in which the CPUs moved, if it was not one."""
    counts = Counter(trial.placement for trial in trials if trial.placement is not None)
    moved = sum(trial.moved for trial in trials)
    if len(counts) + bool(moved) < PLACEMENTS_MENTIONED:
        return ()
    texts = [
        f"{counted(number, 'trial')} with {placement_words(kind)}"
        for kind, number in counts.most_common()
    ]
    if moved:
        texts.append(f"{moved} in which they moved")
    return (f"the hypervisor moved the CPUs: {', '.join(texts)}",)
