# SPDX-License-Identifier: Apache-2.0
"""Define the columns of points whose router converged. A table has a row for each event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from wirespeed.model.result.convergence import ConvergenceFigure, ConvergenceResult, Spread
from wirespeed.model.words import NONE
from wirespeed.report.views.column import Column
from wirespeed.report.views.figures import PointFigures
from wirespeed.store.records import PointRecord


def convergence_result(point: PointRecord) -> ConvergenceResult | None:
    """Return the convergence of a point; None without it."""
    return None if point.result is None else point.result.convergence


def spread_words(spread: Spread | None) -> str:
    """Return p50 and p99 in ms; a dash where there is none."""
    return NONE if spread is None else f"{spread.p50_ms:,.1f} / {spread.p99_ms:,.1f}"


def _of_row(write: Callable[[ConvergenceFigure], str]) -> Callable[[PointFigures], str | None]:
    """Return a function that writes a value of the event of a row; None without a result."""

    def cell(row: PointFigures) -> str | None:
        result = convergence_result(row.point)
        return None if result is None else write(result.figures[row.part])

    return cell


def _worst(read: Callable[[ConvergenceFigure], float]) -> Callable[[PointFigures], object]:
    """Return a function that reads the largest value of all events; None without a result."""

    def value(row: PointFigures) -> object:
        result = convergence_result(row.point)
        return None if result is None else max(map(read, result.figures))

    return value


def _faults(figure: ConvergenceFigure) -> str:
    return f"{figure.misrouted:,} / {figure.looped:,} / {figure.duplicated:,}"


_MS: Final = "p50 / p99 ms"
LOST = Column("convergence_lost", _worst(lambda f: f.lost), _of_row(lambda f: f"{f.lost:,}"),
              "lost", "Frames\nlost")  # fmt: skip

CSV: Final = (
    Column("convergence_blackout_p50_ms", _worst(lambda f: f.blackout.p50_ms)),
    Column("convergence_blackout_p99_ms", _worst(lambda f: f.blackout.p99_ms)),
    Column("convergence_blackout_max_ms", _worst(lambda f: f.blackout.max_ms)),
    LOST,
    Column("convergence_misrouted", _worst(lambda f: f.misrouted)),
)
TABLE: Final = (
    Column(cell=_of_row(lambda f: f.event), terminal="event", page="Event", style=""),
    Column(cell=_of_row(lambda f: spread_words(f.blackout)), terminal=f"blackout {_MS}",
           page=_MS, group="Blackout", style="n strong"),
    Column(cell=_of_row(lambda f: f"{f.blackout.max_ms:,.1f}"), terminal="max ms", page="max ms",
           group="Blackout"),
    LOST,
    Column(cell=_of_row(lambda f: f"{f.blocked_ms:,.1f}"), terminal="blocked ms",
           page="Blocked\nms", drop=2),
    Column(cell=_of_row(lambda f: f"{f.linear_ms:,.1f}"), terminal="2 x lost/rate ms",
           page="2 x lost / rate\nms", drop=3),
    Column(cell=_of_row(lambda f: spread_words(f.protocol)), terminal=f"protocol {_MS}",
           page=_MS, group="Protocol"),
    Column(cell=_of_row(lambda f: spread_words(f.forwarding)), terminal=f"forwarding {_MS}",
           page=_MS, group="Forwarding"),
    Column(cell=_of_row(lambda f: spread_words(f.reroute)), terminal=f"rerouted {_MS}",
           page=_MS, group="Rerouted", drop=5),
    Column(cell=_of_row(_faults), terminal="misrouted / looped / duplicated",
           page="Misrouted / looped\n/ duplicated", drop=1),
    Column(cell=_of_row(lambda f: f"{f.unreachable:,}"), terminal="unreachable",
           page="Unreachable\nat the end", drop=4),
)  # fmt: skip
