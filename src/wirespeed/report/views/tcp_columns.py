# SPDX-License-Identifier: Apache-2.0
"""Define the columns of points with TCP traffic. A table has a row for each direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from wirespeed.model.result.tcp import TcpFigure, TcpResult
from wirespeed.model.study.tcp import TcpDirection
from wirespeed.model.words import gbps, percent
from wirespeed.report.views.column import ALL_TIME, CLEAN, GRADE, Column
from wirespeed.report.views.figures import PointFigures
from wirespeed.report.views.tcp import most_taken, tcp_of, tcp_result, undisturbed


def _of_result(pick: Callable[[TcpResult], object]) -> Callable[[PointFigures], object]:
    """Return a function that reads the result of a point; None without one."""
    return lambda f: None if (result := tcp_result(f.point)) is None else pick(result)


def _of_row(
    write: Callable[[TcpResult, TcpFigure], str | None],
) -> Callable[[PointFigures], str | None]:
    """Return a function that writes a value of the direction of a row; None without a result."""

    def cell(row: PointFigures) -> str | None:
        result = tcp_result(row.point)
        return None if result is None else write(result, result.figures[row.part])

    return cell


def _directed(name: str, direction: TcpDirection, field: str) -> Column:
    """Return the CSV column of a field of one direction; empty without that direction."""

    def read(result: TcpResult) -> object:
        found = (figure for figure in result.figures if figure.direction is direction)
        return next((getattr(figure, field) for figure in found), None)

    return Column(f"tcp_{direction}_{name}", _of_result(read))


def _path(figures: PointFigures) -> str | None:
    tcp = tcp_of(figures.point)
    return None if tcp is None else tcp.path


SHARE = Column("tcp_undisturbed_share", _of_result(lambda r: r.clean_share),
               _of_row(lambda r, _: percent(r.clean_share, 0) if r.pieces else None),
               "of the time", "Share", CLEAN, drop=4)  # fmt: skip
RETRANSMITS = Column("tcp_retransmits",
                     _of_result(lambda r: sum(figure.retransmits for figure in r.figures)),
                     _of_row(lambda _, f: f"{f.retransmits:,}"),
                     "retransmits", "Retransmitted\nsegments", drop=2)  # fmt: skip
CPU = Column("tcp_cpu_s_per_gbit", _of_result(lambda r: r.cpu_s_per_gbit),
             _of_row(lambda r, _: f"{r.cpu_s_per_gbit * 1e3:.1f}"),
             "CPU ms/Gbit", "CPU\nms/Gbit", drop=3)  # fmt: skip
TAKEN = Column("tcp_most_taken", _of_result(most_taken),
               _of_row(lambda r, _: percent(most_taken(r))),
               "time taken", "Time\ntaken", drop=1)  # fmt: skip
DOWN, UP = TcpDirection.DOWN, TcpDirection.UP

CSV: Final = (
    Column("tcp_path", _path),
    _directed("bps", DOWN, "median_bps"),
    _directed("bps", UP, "median_bps"),
    _directed("undisturbed_bps", DOWN, "undisturbed_bps"),
    _directed("undisturbed_error_bps", DOWN, "undisturbed_error_bps"),
    _directed("undisturbed_bps", UP, "undisturbed_bps"),
    _directed("undisturbed_error_bps", UP, "undisturbed_error_bps"),
    SHARE, RETRANSMITS,
    _directed("limited_by", DOWN, "limited_by"),
    _directed("limited_by", UP, "limited_by"),
    CPU, TAKEN,
)  # fmt: skip
TABLE: Final = (
    Column(cell=_of_row(lambda _, f: str(f.direction)), terminal="direction", page="Direction",
           style=""),
    Column(cell=_of_row(lambda _, f: undisturbed(f)), terminal="Gbps, clean", page="Gbps",
           group=CLEAN, style="n strong"),
    GRADE, SHARE,
    Column(cell=_of_row(lambda _, f: gbps(f.median_bps)), terminal="Gbps, all time", page="Gbps",
           group=ALL_TIME, style="n strong"),
    Column(cell=_of_row(lambda _, f: f"{gbps(f.lowest_bps)} to {gbps(f.highest_bps)}"),
           terminal="lowest to highest", page="lowest\nto highest", group=ALL_TIME, drop=5),
    TAKEN, RETRANSMITS, CPU,
    Column(cell=_of_row(lambda _, f: f.limit), terminal="limited by", page="Limited by", style=""),
)  # fmt: skip
