# SPDX-License-Identifier: Apache-2.0
"""View points with counted TCP connections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from wirespeed.model.result.result import SESSIONS, SearchResult
from wirespeed.model.result.sessions import SessionsFigure, SessionsResult
from wirespeed.model.study.spec import TcpSessions
from wirespeed.model.study.sut import SutDescription
from wirespeed.model.words import NONE, quantity
from wirespeed.report.views.tcp import grade_of, why_missing
from wirespeed.store.codec import encode
from wirespeed.store.records import PointRecord

_CSV = (
    "sessions_mode", "sessions_median", "sessions_lowest", "sessions_highest",
    "sessions_undisturbed", "sessions_undisturbed_error", "sessions_failed",
    "sessions_connect_p50_us", "sessions_connect_p99_us", "sessions_server_bytes_each",
    "sessions_limited_by",
)  # fmt: skip
_HEADINGS = ("sessions, clean", "grade", "all time", "lowest to highest", "failed",
             "connect p50 / p99 \N{MICRO SIGN}s", "server bytes each")  # fmt: skip


@dataclass(frozen=True, slots=True)
class SessionsView:
    """A WorkloadView."""

    name: str = SESSIONS
    title: str = "TCP sessions"
    measured: str = "TCP sessions with a request each"
    verdict_note: str = (
        "Of TCP sessions: CPU use of server and clients, and the causes of failed connections."
    )
    template: str = "sessions.html.j2"
    csv_columns: tuple[str, ...] = _CSV

    def shows(self, point: PointRecord) -> bool:
        return isinstance(point.workload, TcpSessions)

    def csv(self, point: PointRecord) -> Mapping[str, object]:
        result = _result(point)
        if result is None or not isinstance(point.workload, TcpSessions):
            return dict.fromkeys(_CSV)
        figure, connect = result.figure, _connect(result)
        values = (
            point.workload.sessions.mode, figure.median, figure.lowest, figure.highest,
            figure.undisturbed, figure.undisturbed_error, sum(result.failures.values()),
            connect and connect[0], connect and connect[1], _bytes_each(result),
            figure.limited_by,
        )  # fmt: skip
        return dict(zip(_CSV, values, strict=True))

    def json(self, result: SearchResult) -> dict[str, Any] | None:
        if result.sessions is None:
            return None
        encoded: dict[str, Any] = encode(result.sessions)
        return encoded

    def rates(self, result: SearchResult) -> str:
        if result.sessions is None:
            return ""
        figure = result.sessions.figure
        clean = "" if figure.undisturbed is None else f"{_clean(figure)} in clean time, "
        return f"{clean}{quantity(figure.median, figure.unit)} in all time"

    def remarks(
        self,
        result: SearchResult,
        sut: SutDescription | None,  # noqa: ARG002
    ) -> Iterator[str]:
        if result.not_measurable is not None:
            yield f"Not measurable: {result.not_measurable}."
        if (found := result.sessions) is not None:
            yield from (f"{why[:1].upper()}{why[1:]}." for why in result.because)
            if (connect := _connect(found)) is not None:
                p50, p99 = connect
                yield f"Connecting took {p50:,.0f} (p50) and {p99:,.0f} (p99) \N{MICRO SIGN}s."
            if (each := _bytes_each(found)) is not None:
                yield f"The server's resident memory grew by {each:,.0f} bytes for each connection."
            if found.failures:
                causes = ", ".join(f"{cause} {count:,}" for cause, count in found.failures.items())
                yield f"Failed connections of all runs: {causes}."
            if found.discarded:
                yield f"Failed runs: {len(found.discarded)}; the last: {found.discarded[-1]}."
        yield from (f"{note[:1].upper()}{note[1:]}." for note in result.notes)

    def table(self, points: Sequence[PointRecord]) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        table.add_column("point")
        for heading in _HEADINGS:
            table.add_column(heading, justify="right")
        table.add_column("limited by")
        for point in points:
            table.add_row(point.caption, *self.cells(point))
        return table

    @property
    def headings(self) -> tuple[str, ...]:
        """Return the headings of `cells`."""
        return (*_HEADINGS, "limited by")

    def cells(self, point: PointRecord) -> tuple[str, ...]:
        """Return the row of a point, without its label."""
        if (result := _result(point)) is None:
            return (*[NONE] * len(_HEADINGS), why_missing(point))
        figure, connect, each = result.figure, _connect(result), _bytes_each(result)
        return (
            _clean(figure),
            grade_of(point),
            quantity(figure.median, figure.unit),
            f"{figure.lowest:,.0f} to {figure.highest:,.0f}",
            f"{sum(result.failures.values()):,}",
            NONE if connect is None else f"{connect[0]:,.0f} / {connect[1]:,.0f}",
            NONE if each is None else f"{each:,.0f}",
            figure.limited_by.replace("_", " "),
        )

    def group(self, point: PointRecord) -> str:
        """Return the label without what the study varies."""
        if not isinstance(point.workload, TcpSessions):
            return self.title
        mode, path = point.workload.sessions.mode, point.workload.network.tcp.path
        return f"TCP sessions, {mode}, over {path}"

    def limits(self, result: SearchResult) -> tuple[str, ...]:
        found = result.sessions
        return () if found is None else (found.figure.limited_by.replace("_", " "),)

    def facts(self, result: SearchResult) -> tuple[str, ...]:
        if result.sessions is None or (connect := _connect(result.sessions)) is None:
            return ()
        return (f"connect p50 {connect[0]:,.0f}, p99 {connect[1]:,.0f} \N{MICRO SIGN}s",)


def _result(point: PointRecord) -> SessionsResult | None:
    return None if point.result is None else point.result.sessions


def _clean(figure: SessionsFigure) -> str:
    if figure.undisturbed is None:
        return NONE
    error = f" +- {figure.undisturbed_error:,.0f}" if figure.undisturbed_error else ""
    return f"{figure.undisturbed:,.0f}{error}"


def _connect(result: SessionsResult) -> tuple[float, float] | None:
    """Return the largest p50 and p99 of the runs, in µs."""
    known = [run.connect for run in result.runs if run.connect is not None]
    if not known:
        return None
    return max(one.p50_us for one in known), max(one.p99_us for one in known)


def _bytes_each(result: SessionsResult) -> float | None:
    """Return the largest growth of the server's memory for each connection, in bytes."""
    return max((run.server_bytes_each or 0.0 for run in result.runs), default=0.0) or None
