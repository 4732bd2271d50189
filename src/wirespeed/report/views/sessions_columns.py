# SPDX-License-Identifier: Apache-2.0
"""Define the columns of points with counted TCP connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from wirespeed.model.result.sessions import SessionsFigure, SessionsResult
from wirespeed.model.study.spec import TcpSessions
from wirespeed.model.words import NONE, quantity
from wirespeed.report.views.column import ALL_TIME, CLEAN, GRADE, Column
from wirespeed.report.views.figures import PointFigures
from wirespeed.store.records import PointRecord


def sessions_result(point: PointRecord) -> SessionsResult | None:
    """Return the counted connections of a point; None without them."""
    return None if point.result is None else point.result.sessions


def clean_words(figure: SessionsFigure) -> str:
    """Return the clean rate with its error; a dash without clean time."""
    if figure.undisturbed is None:
        return NONE
    error = f" +- {figure.undisturbed_error:,.0f}" if figure.undisturbed_error else ""
    return f"{figure.undisturbed:,.0f}{error}"


def connect_us(result: SessionsResult) -> tuple[float, float] | None:
    """Return the largest p50 and p99 of the runs, in µs."""
    known = [run.connect for run in result.runs if run.connect is not None]
    if not known:
        return None
    return max(one.p50_us for one in known), max(one.p99_us for one in known)


def bytes_each(result: SessionsResult) -> float | None:
    """Return the largest growth of the server's memory for each connection, in bytes."""
    return max((run.server_bytes_each or 0.0 for run in result.runs), default=0.0) or None


def _of(read: Callable[[SessionsResult], object]) -> Callable[[PointFigures], object]:
    """Return a function that reads the result of a point; None without one."""
    return lambda f: None if (found := sessions_result(f.point)) is None else read(found)


def _text(write: Callable[[SessionsResult], str | None]) -> Callable[[PointFigures], str | None]:
    """Return a function that writes a value of a point; None without a result."""
    return lambda f: None if (found := sessions_result(f.point)) is None else write(found)


def _mode(figures: PointFigures) -> str | None:
    workload = figures.point.workload
    if sessions_result(figures.point) is None or not isinstance(workload, TcpSessions):
        return None
    return workload.sessions.mode


def _percentile(number: int) -> Callable[[PointFigures], object]:
    return _of(lambda r: None if (found := connect_us(r)) is None else found[number])


def _connect_words(result: SessionsResult) -> str | None:
    found = connect_us(result)
    return None if found is None else f"{found[0]:,.0f} / {found[1]:,.0f}"


def _bytes_words(result: SessionsResult) -> str | None:
    found = bytes_each(result)
    return None if found is None else f"{found:,.0f}"


FAILED = Column("sessions_failed", _of(lambda r: sum(r.failures.values())),
                _text(lambda r: f"{sum(r.failures.values()):,}"), "failed", "Failed")  # fmt: skip
BYTES_EACH = Column("sessions_server_bytes_each", _of(bytes_each), _text(_bytes_words),
                    "server bytes each", "Server\nbytes each", drop=1)  # fmt: skip
LIMIT = Column("sessions_limited_by", _of(lambda r: r.figure.limited_by),
               _text(lambda r: r.figure.limited_by.replace("_", " ")),
               "limited by", "Limited by", style="")  # fmt: skip

CSV: Final = (
    Column("sessions_mode", _mode),
    Column("sessions_median", _of(lambda r: r.figure.median)),
    Column("sessions_lowest", _of(lambda r: r.figure.lowest)),
    Column("sessions_highest", _of(lambda r: r.figure.highest)),
    Column("sessions_undisturbed", _of(lambda r: r.figure.undisturbed)),
    Column("sessions_undisturbed_error", _of(lambda r: r.figure.undisturbed_error)),
    FAILED,
    Column("sessions_connect_p50_us", _percentile(0)),
    Column("sessions_connect_p99_us", _percentile(1)),
    BYTES_EACH, LIMIT,
)  # fmt: skip
TABLE: Final = (
    Column(cell=_text(lambda r: clean_words(r.figure)), terminal="sessions, clean",
           page="Sessions", group=CLEAN, style="n strong"),
    GRADE,
    Column(cell=_text(lambda r: quantity(r.figure.median, r.figure.unit)), terminal="all time",
           page="Sessions", group=ALL_TIME, style="n strong"),
    Column(cell=_text(lambda r: f"{r.figure.lowest:,.0f} to {r.figure.highest:,.0f}"),
           terminal="lowest to highest", page="lowest\nto highest", group=ALL_TIME, drop=3),
    FAILED,
    Column(cell=_text(_connect_words), terminal="connect p50 / p99 \N{MICRO SIGN}s",
           page="Connect\np50 / p99 \N{MICRO SIGN}s", drop=2),
    BYTES_EACH, LIMIT,
)  # fmt: skip
