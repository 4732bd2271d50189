# SPDX-License-Identifier: Apache-2.0
"""View points with TCP traffic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from wirespeed.model.result.result import TCP, SearchResult
from wirespeed.model.study.sut import SutDescription
from wirespeed.model.words import gbps
from wirespeed.report.views.tcp import (
    CSV_FIELDS,
    csv_fields,
    tcp_of,
    tcp_remarks,
    tcp_table,
    undisturbed,
)
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
    template: str = "tcp.html.j2"
    csv_columns: tuple[str, ...] = CSV_FIELDS

    def shows(self, point: PointRecord) -> bool:
        return tcp_of(point) is not None

    def csv(self, point: PointRecord) -> Mapping[str, object]:
        return csv_fields(point)

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

    def table(self, points: Sequence[PointRecord]) -> Table:
        return tcp_table(points)

    def group(self, point: PointRecord) -> str:
        tcp = tcp_of(point)
        return "TCP" if tcp is None else f"TCP over {tcp.path}"

    def limits(self, result: SearchResult) -> tuple[str, ...]:
        return () if result.tcp is None else tuple(figure.limit for figure in result.tcp.figures)

    def facts(self, result: SearchResult) -> tuple[str, ...]:
        if result.tcp is None:
            return ()
        return (f"{result.tcp.cpu_s_per_gbit * 1e3:.1f} ms of CPU time a Gbit",)
