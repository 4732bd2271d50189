# SPDX-License-Identifier: Apache-2.0
"""Define the columns of results of frames, and the order of all columns.

COLUMNS is in the order of CSV files. TERMINAL and PAGE name the columns of the tables of frames, in
theirs; VERBOSE those that the terminal adds with --verbose. A workload without a search has its
columns in its view (`views/workloads.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.result import SearchResult
from wirespeed.model.words import gbps, loss, microseconds, mpps, percent, seconds, share
from wirespeed.report.base.as_is import loss_load, loss_range, mrr_words
from wirespeed.report.text.limit_words import limited_by
from wirespeed.report.views.column import ALL_TIME, CLEAN, GRADE, Column
from wirespeed.report.views.figures import PointFigures
from wirespeed.report.views.table import latency_at
from wirespeed.report.views.workloads import VIEWS
from wirespeed.store.records import PointRecord

CPU_KINDS: Final = {
    PlacementKind.ONE_CACHE: "one cache",
    PlacementKind.ACROSS_CACHES: "across",
    PlacementKind.ONE_CORE: "one core",
}


def _of_result(pick: Callable[[SearchResult], Any]) -> Callable[[PointFigures], Any]:
    """Return a function that reads a result; None for a point without one."""
    return lambda f: None if f.point.result is None else pick(f.point.result)


def _of(name: str, field: str) -> Callable[[PointFigures], Any]:
    """Return a function that reads a field of one of the figures; None without that figure."""
    return lambda f: None if (found := getattr(f, name)) is None else getattr(found, field)


def _text(
    name: str, field: str, write: Callable[[float], str]
) -> Callable[[PointFigures], str | None]:
    """Return a function that writes a field of one of the figures; None without that figure."""
    read = _of(name, field)
    return lambda f: None if (value := read(f)) is None else write(value)


def _latency_us(field: str, *, clean: bool = False) -> Callable[[PointFigures], float | None]:
    """Return a function that reads a percentile at half the PDR, in µs."""

    def read(figures: PointFigures) -> float | None:
        if (at := latency_at(figures.point, 0.5)) is None:
            return None
        found = at.undisturbed if clean else at.latency
        return None if found is None else getattr(found, field) / 1e3

    return read


def _half_load(result: SearchResult) -> str | None:
    if (found := result.half_load_latency) is None:
        return None
    return f"{microseconds(found.p50_ns)} / {microseconds(found.p99_ns)}"


def _mrr(figures: PointFigures) -> str | None:
    result = figures.point.result
    return None if result is None else mrr_words(result)


def _lossless(figures: PointFigures) -> str | None:
    found = figures.as_is
    if found is None or found.lossless_fps is None:
        return None
    length = f" ({seconds(found.lossless_s)})" if found.lossless_s else ""
    return mpps(found.lossless_fps) + length


def _per_core_fps(figures: PointFigures) -> float | None:
    """Return the best rate for each CPU on which threads of the SUT polled; None without any."""
    threads = figures.point.trials[-1].trial.observation.threads if figures.point.trials else ()
    cores = {(thread.host, thread.cpu) for thread in threads if thread.role == "sut"}
    return figures.best.fps / len(cores) if figures.best is not None and cores else None


def _loss(figures: PointFigures) -> str | None:
    found = figures.as_is
    if found is None or found.loss_high is None or figures.point.result is None:
        return None
    result = figures.point.result
    there = None if result.constant is not None else loss_load(result)
    return loss_range(found) if there is None else f"{loss_range(found)} at {there}"


NDR = Column("ndr_fps", _of("ndr", "fps"), lambda f: f.ndr_words, "NDR, Mpps",
             "NDR", CLEAN, "strong range")  # fmt: skip
PDR = Column("pdr_fps", _of("pdr", "fps"), lambda f: f.pdr_words, "PDR",
             "PDR", CLEAN, "range", drop=2)  # fmt: skip
MRR = Column("mrr_fps", _of("mrr", "fps"), _mrr, "MRR", drop=3)
CONSTANT = Column("constant_fps", _of("constant", "fps"),
                  _text("constant", "fps", mpps), "forwarded")  # fmt: skip
LOAD = Column(cell=_of_result(lambda r: r.constant and mpps(r.constant.load_fps)),
              terminal="load, Mpps")  # fmt: skip
LOST = Column(cell=_of_result(lambda r: r.constant and loss(r.constant.loss_ratio)),
              terminal="lost")  # fmt: skip
BURST = Column(cell=_of_result(lambda r: r.back_to_back and f"{r.back_to_back.mean_frames:,.0f}"),
               terminal="burst, frames")  # fmt: skip
LATENCY = Column(cell=_of_result(_half_load), terminal="p50 / p99 \N{MICRO SIGN}s", drop=1)
CPUS = Column("placement", _of_result(lambda r: r.placement),
              _of_result(lambda r: r.placement and CPU_KINDS[r.placement]), "CPUs")  # fmt: skip


def cpu_seconds(point: PointRecord) -> float | None:
    """Return the SUT's CPU seconds per million frames, in the trial that forwarded most a second.

    None where no trial knows them.
    """
    known = [each.trial for each in point.trials if each.trial.observation.sut_cpu is not None]
    fastest = max(known, key=lambda trial: trial.forwarding_fps, default=None)
    if fastest is None or fastest.observation.sut_cpu is None:
        return None
    return fastest.observation.sut_cpu.per_million_s(fastest.received)


def _cpu_cell(figures: PointFigures) -> str | None:
    found = cpu_seconds(figures.point)
    return None if found is None else f"{found:.3g}"


CPU_SECONDS = Column(
    "sut_cpu_s_per_million_frames", lambda f: cpu_seconds(f.point), _cpu_cell, "CPU s / M frames",
    "CPU s per\nM frames", drop=4,
    about="CPU seconds of the SUT per million frames, softirqs included, in its fastest trial. A "
    "SUT that polls uses its CPUs whole at any load",
)  # fmt: skip
LIMIT = Column(cell=lambda f: limited_by(f.point), terminal="limited by", style="")
RECEIVED = Column(cell=lambda f: _mrr(f) or _text("constant", "fps", mpps)(f),
                  page="MRR", group=CLEAN)  # fmt: skip
CLEAN_SHARE = Column("undisturbed_share", _of("undisturbed", "share"),
                     _text("undisturbed", "share", share), "",
                     "Share", CLEAN)  # fmt: skip
LOSS_HIGH = Column("as_is_loss_high", _of("as_is", "loss_high"), _loss, "",
                   "Lost at\nthe NDR", ALL_TIME)  # fmt: skip
LOSSLESS = Column("as_is_lossless_fps", _of("as_is", "lossless_fps"), _lossless, "",
                  "Lossless up\nto (trial of)", ALL_TIME)  # fmt: skip
ALL_TIME_MRR = Column("as_is_mrr_fps", _of("as_is", "mrr_fps"),
                      _text("as_is_mrr", "fps", mpps), "",
                      "MRR", ALL_TIME)  # fmt: skip
L1 = Column("best_l1_bps", _of("best", "l1_bps"), _text("best", "l1_bps", gbps), "",
            "Gbps\nL1")  # fmt: skip
LINE_SHARE = Column("best_line_share", _of("best", "line_share"),
                    _text("best", "line_share", percent), "",
                    "% of\nline rate")  # fmt: skip
PER_CORE = Column(
    "best_fps_per_polling_core", _per_core_fps,
    lambda f: None if (fps := _per_core_fps(f)) is None else mpps(fps), "",
    "Mpps per\npolling core",
    about="The first rate given, for each CPU on which threads of the SUT polled",
)  # fmt: skip
MAXIMUM = Column("theoretical_max_fps", lambda f: f.maximum_fps if f.point.offers_frames else None,
                 lambda f: mpps(f.maximum_fps), "", "Theoretical\nmax Mpps",
                 rated=False)  # fmt: skip
SEARCH = Column(cell=_of_result(lambda r: r.search), page="Search", style="search", rated=False)

COLUMNS: Final[tuple[Column, ...]] = (
    Column("point_id", lambda f: f.point.id),
    Column("label", lambda f: f.point.label),
    CPUS,
    Column("topology_kind",
           lambda f: f.point.frames.topology.kind if f.point.offers_frames else None),
    Column("frame", lambda f: f.point.frames.traffic.frame.text if f.point.offers_frames else None),
    Column("state", lambda f: f.point.state),
    Column("rfc2544_conformant", lambda f: str(f.conformant).lower()),
    NDR, PDR, MRR, CONSTANT,
    Column("ndr_upper_fps", _of_result(lambda r: r.ndr and r.ndr.upper and r.ndr.upper.load_fps)),
    Column("pdr_upper_fps", _of_result(lambda r: r.pdr and r.pdr.upper and r.pdr.upper.load_fps)),
    MAXIMUM, L1, Column("best_l2_bps", _of("best", "l2_bps")), LINE_SHARE, PER_CORE, CPU_SECONDS,
    Column("latency_pdr50_p50_us", _latency_us("p50_ns")),
    Column("latency_pdr50_p99_us", _latency_us("p99_ns")),
    Column("trials", lambda f: len(f.point.trials)),
    Column("quiet_trials", lambda f: sum(stored.trial.quiet for stored in f.point.trials)),
    GRADE, CLEAN_SHARE,
    Column("undisturbed_windows", _of("undisturbed", "windows")),
    Column("bracket_carried_fps", _of("bracket", "carried_fps")),
    Column("bracket_overloads_fps", _of("bracket", "overloads_fps")),
    ALL_TIME_MRR, Column("as_is_loss_low", _of("as_is", "loss_low")), LOSS_HIGH, LOSSLESS,
    Column("as_is_lossless_s", _of("as_is", "lossless_s")),
    Column("latency_pdr50_undisturbed_p50_us", _latency_us("p50_ns", clean=True)),
    Column("latency_pdr50_undisturbed_p99_us", _latency_us("p99_ns", clean=True)),
    Column("limited_by", _of_result(lambda r: r.limited_by)),
    Column("emulated", _of_result(lambda r: r.emulated)),
    Column("not_measurable", lambda f: f.reason),
    *(column for view in VIEWS for column in view.csv_columns),
)  # fmt: skip
VERBOSE: Final = (CPU_SECONDS,)
TERMINAL: Final = (NDR, PDR, MRR, LOAD, CONSTANT, LOST, BURST, LATENCY, CPUS, GRADE, LIMIT)
PAGE: Final = (NDR, PDR, RECEIVED, GRADE, CLEAN_SHARE, LOSS_HIGH, LOSSLESS, ALL_TIME_MRR, L1,
               LINE_SHARE, PER_CORE, CPU_SECONDS, MAXIMUM, SEARCH)  # fmt: skip
