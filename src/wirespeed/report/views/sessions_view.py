# SPDX-License-Identifier: Apache-2.0
"""View points with counted TCP connections."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wirespeed.model.result.result import SESSIONS, SearchResult
from wirespeed.model.study.spec import TcpSessions
from wirespeed.model.study.sut import SutDescription
from wirespeed.model.words import quantity
from wirespeed.report.views.column import Column
from wirespeed.report.views.figures import PointFigures, point_figures
from wirespeed.report.views.sessions_columns import (
    CSV,
    TABLE,
    bytes_each,
    clean_words,
    connect_us,
    sessions_result,
)
from wirespeed.store.codec import encode
from wirespeed.store.records import PointRecord


@dataclass(frozen=True, slots=True)
class SessionsView:
    """A WorkloadView."""

    name: str = SESSIONS
    title: str = "TCP sessions"
    measured: str = "TCP sessions with a request each"
    verdict_note: str = (
        "Of TCP sessions: CPU use of server and clients, and the causes of failed connections."
    )
    about: str = (
        "TCP connections with one HTTP request each (RFC 9411 sections 7.2 and 7.5), of all "
        "clients together. Clean time: mean rate while nothing was taken from server, clients or "
        "vSwitch. All time: the median of the runs, then the lowest and the highest. Concurrent "
        "connections were answered again after they had been held. Memory: growth of the server's "
        "resident memory, without the kernel's."
    )
    template: str = ""
    csv_columns: tuple[Column, ...] = CSV
    table_columns: tuple[Column, ...] = TABLE

    def shows(self, point: PointRecord) -> bool:
        return isinstance(point.workload, TcpSessions)

    def rows(self, point: PointRecord) -> tuple[PointFigures, ...]:
        return () if sessions_result(point) is None else (point_figures(point),)

    def json(self, result: SearchResult) -> dict[str, Any] | None:
        if result.sessions is None:
            return None
        encoded: dict[str, Any] = encode(result.sessions)
        return encoded

    def rates(self, result: SearchResult) -> str:
        if result.sessions is None:
            return ""
        figure = result.sessions.figure
        clean = "" if figure.undisturbed is None else f"{clean_words(figure)} in clean time, "
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
            if (connect := connect_us(found)) is not None:
                p50, p99 = connect
                yield f"Connecting took {p50:,.0f} (p50) and {p99:,.0f} (p99) \N{MICRO SIGN}s."
            if (each := bytes_each(found)) is not None:
                yield f"The server's resident memory grew by {each:,.0f} bytes for each connection."
            if found.failures:
                causes = ", ".join(f"{cause} {count:,}" for cause, count in found.failures.items())
                yield f"Failed connections of all runs: {causes}."
            if found.discarded:
                yield f"Failed runs: {len(found.discarded)}; the last: {found.discarded[-1]}."
        yield from (f"{note[:1].upper()}{note[1:]}." for note in result.notes)

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
        if result.sessions is None or (connect := connect_us(result.sessions)) is None:
            return ()
        return (f"connect p50 {connect[0]:,.0f}, p99 {connect[1]:,.0f} \N{MICRO SIGN}s",)
