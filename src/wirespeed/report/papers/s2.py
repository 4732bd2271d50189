# SPDX-License-Identifier: Apache-2.0
"""Compare the scaling of interfaces over the number of VNFs with S2's figures 28 to 39.

S2's rate is the sum of what the VNFs transmit under full load. With VNFs in a row, each frame
counts once for each VNF. So its end-to-end rate is the sum over the number of VNFs. Our rate is the
MRR. Its sum is a lower bound of what the VNFs transmit: frames that a later VNF drops are absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.study.spec import Frames
from wirespeed.model.words import NONE, mpps
from wirespeed.published.tables import TABLES, rates
from wirespeed.report.charts.shapes import Chart
from wirespeed.report.papers.agreement import CLOSE, compare_curves, correlation
from wirespeed.report.papers.interface import Agreement, Beside, Said, Table
from wirespeed.report.papers.panel import beside_chart
from wirespeed.report.papers.reading import Reading, figure_or_why
from wirespeed.store.records import PointRecord, RunRecord

_NAMES = {"virtio": "virtio", "vhost": "vhost-user", "sriov": "SR-IOV"}
_EAST_WEST = "east-west"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of S2's tables: interface, arrangement of VNFs, their number, frame size."""

    attachment: str
    arrangement: str
    functions: int
    frame_bytes: int

    @property
    def series(self) -> str:
        return f"{_NAMES[self.attachment]}, {self.arrangement}, {self.frame_bytes} B"

    @property
    def passes(self) -> int:
        """Return how often S2 counts a frame."""
        return self.functions if self.arrangement == _EAST_WEST else 1


def row_of(frames: Frames) -> Row | None:
    """Return the row that the point repeats; None where S2 has none."""
    kind, vnfs = frames.topology.kind, frames.topology.vnfs
    if not frames.traffic.frame.text.isdecimal() or frames.bng is not None:
        return None
    size = int(frames.traffic.frame.text)
    if kind == "sriov":
        return Row("sriov", _EAST_WEST if vnfs > 1 else "north-south", vnfs, size)
    attachment = {"ovs-dpdk": "vhost", "linux-bridge": "virtio"}.get(frames.sut.vswitch.kind)
    arrangement = {"parallel": "north-south", "chain": _EAST_WEST}.get(kind)
    if kind == "pvp":
        arrangement, vnfs = "north-south", 1
    if attachment is None or arrangement is None:
        return None
    return Row(attachment, arrangement, vnfs, size)


def published_fps(row: Row) -> float | None:
    """Return S2's rate, summed over the VNFs; None where it has no such row."""
    return next(
        (
            rate.rate_fps
            for rate in rates("s2")
            if (rate.attachment, rate.arrangement) == (row.attachment, row.arrangement)
            and (rate.functions, rate.frame_bytes) == (row.functions, row.frame_bytes)
        ),
        None,
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """A point and its row, with end-to-end rates."""

    row: Row
    point: PointRecord
    ours_fps: float | None
    theirs_fps: float | None
    """0 where S2 rounds to nothing."""

    @property
    def both(self) -> tuple[float, float] | None:
        """Return both rates where both are above 0."""
        if self.ours_fps is None or not self.theirs_fps:
            return None
        return self.ours_fps, self.theirs_fps


def beside(run: RunRecord, reading: Reading) -> Beside:
    pairs = [pair for point in run.points if (pair := _pair(point, reading)) is not None]
    series: dict[str, list[Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: pair.row.functions):
        series.setdefault(pair.row.series, []).append(pair)
    said = [one for name, members in series.items() for one in _sentences(name, members, reading)]
    return Beside(
        TABLES["s2"],
        (*said, *_together(pairs)),
        (_table(pairs, reading),),
        tuple(
            _panel(number, name, members, reading)
            for number, (name, members) in enumerate(series.items(), start=1)
            if any(pair.ours_fps for pair in members)
        ),
    )


def _pair(point: PointRecord, reading: Reading) -> Pair | None:
    row = row_of(point.frames)
    if row is None:
        return None
    theirs = published_fps(row)
    ours = reading.full_load_fps(point)
    return Pair(row, point, ours, None if theirs is None else theirs / row.passes)


def _sentences(name: str, members: list[Pair], reading: Reading) -> Iterator[Said]:
    """Yield one sentence for each curve over the number of VNFs."""
    found = [both for pair in members if (both := pair.both) is not None]
    if not any(pair.ours_fps for pair in members):
        yield Said(Agreement.OPEN, f"{name}: {reading.missing(members[0].point)}")
        return
    ours, theirs = [a for a, _ in found], [b for _, b in found]
    end_to_end = f"{name}, end to end" if members[0].row.arrangement == _EAST_WEST else name
    why = reading.differs(members[-1].point)
    yield compare_curves(end_to_end, "VNF", (reading.where, "S2"), (ours, theirs), why)


def _together(pairs: list[Pair]) -> Iterator[Said]:
    """Yield the correlation over all sizes and numbers of VNFs of an interface and pattern."""
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        name = f"{_NAMES[pair.row.attachment]} {pair.row.arrangement}"
        groups.setdefault(name, []).append(pair)
    for name, members in groups.items():
        rows = [(pair.row.passes, both) for pair in members if (both := pair.both) is not None]
        ends = correlation([a for _, (a, _) in rows], [b for _, (_, b) in rows])
        sums = correlation([n * a for n, (a, _) in rows], [n * b for n, (_, b) in rows])
        if ends is None or sums is None:
            continue
        summed = f", summed over the VNFs {sums:.2f}" if _EAST_WEST in name else ""
        yield Said(
            Agreement.AGREES if ends >= CLOSE else Agreement.DIFFERS,
            f"{name}, all {len(rows)} points: correlation with S2 {ends:.2f} end to end{summed}",
        )


def _panel(number: int, name: str, members: list[Pair], reading: Reading) -> Chart:
    return beside_chart(
        f"s2-{number}",
        name,
        ("VNFs", "Mpps end to end"),
        (reading.where, "S2"),
        [
            (
                str(pair.row.functions),
                None if pair.ours_fps is None else pair.ours_fps / 1e6,
                None if pair.theirs_fps is None else pair.theirs_fps / 1e6,
            )
            for pair in members
        ],
        log_y=True,
    )


def _table(pairs: list[Pair], reading: Reading) -> Table:
    headings = (
        "interface, pattern, size", "VNFs", f"Mpps {reading.where}, end to end", "summed",
        "S2, end to end", "summed",
    )  # fmt: skip
    rows = tuple(_cells(pair, reading) for pair in pairs)
    return Table("What the VNFs transmit under full load", headings, rows, keys=2)


def _cells(pair: Pair, reading: Reading) -> tuple[str, ...]:
    ours, theirs, passes = pair.ours_fps, pair.theirs_fps, pair.row.passes
    return (
        pair.row.series,
        str(pair.row.functions),
        figure_or_why(pair.point, None if ours is None else mpps(ours), reading),
        NONE if ours is None else mpps(passes * ours),
        mpps(theirs),
        NONE if theirs is None else mpps(passes * theirs),
    )
