# SPDX-License-Identifier: Apache-2.0
"""View points with TCP traffic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from wirespeed.model.result.result import TCP, SearchResult
from wirespeed.model.study.sut import SutDescription
from wirespeed.model.words import gbps
from wirespeed.report.views.column import Column
from wirespeed.report.views.figures import PointFigures, point_figures
from wirespeed.report.views.tcp import tcp_of, tcp_remarks, tcp_result, undisturbed
from wirespeed.report.views.tcp_columns import CSV, TABLE
from wirespeed.store.codec import encode
from wirespeed.store.records import PointRecord


@dataclass(frozen=True, slots=True)
class TcpView:
    """A WorkloadView."""

    name: str = TCP
    title: str = "TCP"
    measured: str = "TCP payload"
    verdict_note: str = (
        "Of TCP, the server's verdict: from TCP_INFO of every stream and the CPU time of both ends."
    )
    about: str = (
        "Gbps of payload, summed over all streams of all clients. Clean time: while nothing was "
        "taken from server, clients or vSwitch; the share is that of the time. All time: the "
        "median of the runs, then the lowest and the highest. Time taken: the most that steal and "
        "other programs took of a run's time. CPU time is that of server, clients and vSwitch "
        "together."
    )
    template: str = "tcp.html.j2"
    csv_columns: tuple[Column, ...] = CSV
    table_columns: tuple[Column, ...] = TABLE

    def shows(self, point: PointRecord) -> bool:
        return tcp_of(point) is not None

    def rows(self, point: PointRecord) -> tuple[PointFigures, ...]:
        """Return a row for each direction."""
        result, figures = tcp_result(point), point_figures(point)
        parts = 0 if result is None else len(result.figures)
        return tuple(replace(figures, part=part) for part in range(parts))

    def json(self, result: SearchResult) -> dict[str, Any] | None:
        """Return the medians, then every run with TCP_INFO over time."""
        if result.tcp is None:
            return None
        encoded: dict[str, Any] = encode(result.tcp)
        return {"total_bps": result.tcp.total_bps} | encoded

    def rates(self, result: SearchResult) -> str:
        return ", ".join(
            f"{figure.direction} {undisturbed(figure)} Gbps in clean time, "
            f"{gbps(figure.median_bps)} in all time, limited by {figure.limit}"
            for figure in (result.tcp.figures if result.tcp is not None else ())
        )

    def remarks(self, result: SearchResult, sut: SutDescription | None) -> Iterator[str]:
        return tcp_remarks(result, sut)

    def group(self, point: PointRecord) -> str:
        tcp = tcp_of(point)
        return "TCP" if tcp is None else f"TCP over {tcp.path}"

    def limits(self, result: SearchResult) -> tuple[str, ...]:
        return () if result.tcp is None else tuple(figure.limit for figure in result.tcp.figures)

    def facts(self, result: SearchResult) -> tuple[str, ...]:
        if result.tcp is None:
            return ()
        return (f"{result.tcp.cpu_s_per_gbit * 1e3:.1f} ms of CPU time a Gbit",)
