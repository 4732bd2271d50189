# SPDX-License-Identifier: Apache-2.0
"""Choose the few rates that stand for a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wirespeed.model.result.result import Grade
from wirespeed.model.words import gbps, microseconds, mpps, percent
from wirespeed.report.views.figures import PointFigures, Rate, figures_by_placement, line_rate_words
from wirespeed.report.views.table import latency_at
from wirespeed.report.views.tcp import offload_gains, split, tcp_result
from wirespeed.store.records import PointRecord, RunRecord

_NDR = "Highest rate without loss (NDR), clean time"
_AT_LEAST = "Highest rate without loss (NDR) is at least"
_AS_IS = "Highest rate received (MRR), all time"


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A value with its unit, what it is, and its point of the study."""

    what: str
    value: str
    unit: str
    where: str
    grade: Grade | None = None


def key_figures(run: RunRecord) -> tuple[KeyFigure, ...]:
    """Return the best rates, the lowest latency, and the number of trials."""
    frames, tcp = split(run)
    figures = [
        found for point in frames if not point.emulated for found in figures_by_placement(point)
    ]
    real = tuple(point for point in tcp if not point.emulated)
    trials = _trials(run) if frames else ()
    return (*_rates(figures), *_lossless(figures), *_latency(figures), *_tcp(real), *trials)


def _tcp(points: tuple[PointRecord, ...]) -> Iterator[KeyFigure]:
    found = [(point, result) for point in points if (result := tcp_result(point)) is not None]
    if found:
        best, result = max(found, key=lambda pair: pair[1].total_bps)
        yield KeyFigure("Highest TCP throughput", gbps(result.total_bps), "Gbps", best.label)
        least, result = min(found, key=lambda pair: pair[1].cpu_s_per_gbit)
        cpu_ms = f"{result.cpu_s_per_gbit * 1e3:.1f}"
        yield KeyFigure("Least CPU time of all programs", cpu_ms, "ms/Gbit", least.label)
    gains = [(gain.factor, gain) for gain in offload_gains(points) if gain.factor is not None]
    if gains:
        factor, gain = max(gains, key=lambda pair: pair[0])
        yield KeyFigure("Largest gain by TSO, GSO and GRO", f"{factor:.1f}", "x", gain.what)


def _rates(figures: list[PointFigures]) -> Iterator[KeyFigure]:
    picks: tuple[tuple[str, Callable[[PointFigures], Rate | None]], ...] = (
        (_NDR, lambda f: f.ndr),
        (_AT_LEAST, lambda f: f.carried),
        ("Highest rate within the loss goal (PDR)", lambda f: f.pdr),
        ("Highest rate received (MRR)", lambda f: f.mrr),
        ("Forwarded", lambda f: f.constant),
        (_AS_IS, lambda f: f.as_is_mrr),
    )
    for what, pick in picks:
        found = [(f, rate) for f in figures if (rate := pick(f)) is not None]
        if not found:
            continue
        best, rate = max(found, key=lambda pair: pair[1].fps)
        name = _AT_LEAST if what == _NDR and best.ndr_is_bound else what
        share = f"{percent(rate.line_share)} of {line_rate_words(best.point.frames)}"
        of_line = f"{best.point.label}; {share}"
        grade = best.grade if what != _AS_IS else None
        yield KeyFigure(name, mpps(rate.fps), "Mpps", of_line, grade)
        widest, rate = max(found, key=lambda pair: pair[1].l1_bps)
        if widest is not best:
            label = widest.point.label
            yield KeyFigure("Highest throughput", gbps(rate.l1_bps), "Gbps L1", label, widest.grade)
        return


def _lossless(figures: list[PointFigures]) -> Iterator[KeyFigure]:
    """Yield the highest load without loss over all time."""
    found = [
        (f, f.as_is.lossless_fps)
        for f in figures
        if f.as_is is not None and f.as_is.lossless_fps is not None
    ]
    if found:
        best, fps = max(found, key=lambda pair: pair[1])
        what = "Highest rate without loss, all time"
        yield KeyFigure(what, mpps(fps), "Mpps", best.point.label)


def _latency(figures: list[PointFigures]) -> Iterator[KeyFigure]:
    """Yield the latency over all time, as users experience it."""
    found = [(f, at) for f in figures if (at := latency_at(f.point, 0.5)) is not None]
    if found:
        best, at = min(found, key=lambda pair: pair[1].latency.p50_ns)
        value = f"{microseconds(at.latency.p50_ns)} / {microseconds(at.latency.p99_ns)}"
        what = "Latency at half the PDR, all time, p50 / p99"
        yield KeyFigure(what, value, "\N{MICRO SIGN}s", best.point.label)


def _trials(run: RunRecord) -> Iterator[KeyFigure]:
    trials = [stored.trial for point in run.points for stored in point.trials]
    quiet = sum(trial.quiet for trial in trials)
    said = "all of them quiet" if quiet == len(trials) else f"{quiet} of them quiet"
    yield KeyFigure("Trials", str(len(trials)), "", said)
