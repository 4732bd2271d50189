# SPDX-License-Identifier: Apache-2.0
"""Compare one and two receive queues with jumbo frames, as S3's table 5 does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wirespeed.model.study.ovs import BondMode, VlanTranslation
from wirespeed.model.study.spec import (
    Frames,
)
from wirespeed.model.units import line_rate_fps
from wirespeed.model.words import NONE, percent
from wirespeed.published.tables import TABLES, rates
from wirespeed.report.papers.agreement import LEVEL
from wirespeed.report.papers.interface import Agreement, Beside, Said, Table
from wirespeed.report.papers.panel import beside_chart
from wirespeed.report.papers.reading import FULL, Reading, Share, figure_or_why
from wirespeed.store.records import PointRecord, RunRecord

_LINK_BPS = 25e9
# S3's cases with one queue, and with two; all else is equal.
ONE_QUEUE, TWO_QUEUES = "case 5", "case 7"
# Precision of a published 100%: within a few frames of line rate.
_PUBLISHED_FULL = 0.9999


def case_of(frames: Frames) -> str | None:
    """Return the case of S3 that the point repeats."""
    switch, queues = frames.sut.vswitch, frames.sut.vswitch.rx_queues
    if frames.topology.kind == "host":
        return "case 1" if queues == 2 else None
    if frames.topology.kind != "pvp":
        return None
    translated = switch.ovs.vlan is VlanTranslation.REWRITE
    bonded = switch.ovs.bond is not BondMode.NONE
    cases = {
        (1, False, False, 2): "case 3", (2, False, False, 2): "case 4",
        (2, True, False, 1): "case 5", (2, True, True, 1): "case 6",
        (2, True, False, 2): "case 7", (2, True, True, 2): "case 8",
    }  # fmt: skip
    return cases.get((switch.ovs.bridges, translated, bonded, queues))


def published_shares() -> Mapping[tuple[str, int], float]:
    """Return shares of line rate by case and size."""
    return {
        (rate.label.partition(":")[0], rate.frame_bytes): min(
            1.0, rate.rate_fps / line_rate_fps(_LINK_BPS, rate.frame_bytes)
        )
        for rate in rates("s3")
    }


@dataclass(frozen=True, slots=True)
class Pair:
    case: str
    size: int
    point: PointRecord
    ours: Share | None
    theirs: float | None


def beside(run: RunRecord, reading: Reading) -> Beside:
    theirs = published_shares()
    pairs = [
        Pair(case, size, point, reading.lossless(point), theirs.get((case, size)))
        for point in run.points
        if (case := case_of(point.frames)) is not None
        for size in point.frames.traffic.frame.sizes[:1]
    ]
    sizes = sorted({pair.size for pair in pairs})
    by_place = {(pair.case, pair.size): pair for pair in pairs}
    said = [
        *(queues_sentence(size, by_place, reading) for size in sizes),
        *(one for pair in pairs for one in _sentences(pair, reading)),
    ]
    rows = tuple(
        (
            f"{pair.case}, {pair.size} B",
            figure_or_why(pair.point, None if pair.ours is None else pair.ours.words, reading),
            NONE if pair.theirs is None else percent(pair.theirs, 3),
        )
        for pair in pairs
    )
    return Beside(
        TABLES["s3"],
        tuple(said),
        (Table("Share of 25 GbE without loss", ("case", reading.where, "S3"), rows),),
        tuple(
            beside_chart(
                f"s3-{size}", f"{size} octets", ("S3's case", "% of line rate"),
                (reading.where, "S3"),
                [
                    (pair.case.removeprefix("case "), 100 * pair.ours.low if pair.ours else None,
                     None if pair.theirs is None else 100 * pair.theirs)
                    for pair in pairs if pair.size == size
                ],
            )
            for size in sizes
        ),
    )  # fmt: skip


def queues_sentence(size: int, pairs: Mapping[tuple[str, int], Pair], reading: Reading) -> Said:
    """Compare S3's finding: one queue loses, two do not."""
    one, two = pairs.get((ONE_QUEUE, size)), pairs.get((TWO_QUEUES, size))
    if one is None or two is None or one.ours is None or two.ours is None:
        return Said(Agreement.OPEN, f"{size} B: one queue or two have no rate {reading.where}")
    figures = (
        f"{size} B, two bridges with VLAN translation: one queue passes {_percent(one.theirs)} of "
        f"line rate without loss in S3 and {one.ours.words} {reading.where}, two pass "
        f"{_percent(two.theirs)} and {two.ours.words}"
    )
    return _judged(figures, one, two, reading)


def _percent(share: float | None) -> str:
    return NONE if share is None else percent(share, 2)


def _judged(figures: str, one: Pair, two: Pair, reading: Reading) -> Said:
    assert one.ours is not None
    assert two.ours is not None
    loses_there = one.theirs is not None and one.theirs < _PUBLISHED_FULL
    if one.ours.low >= FULL:
        agrees = Agreement.DIFFERS if loses_there else Agreement.AGREES
        return Said(agrees, figures, "One queue is enough here" if loses_there else "")
    if one.ours.high is None:
        return Said(Agreement.OPEN, figures, "One queue's limit was not found")
    if two.ours.low > one.ours.high:
        agrees = Agreement.AGREES if loses_there else Agreement.DIFFERS
        return Said(agrees, figures, "A second queue gains here")
    if two.ours.high is None or two.ours.high > 1.02 * one.ours.high:
        return Said(Agreement.OPEN, figures, f"The ranges overlap. {reading.differs(two.point)}")
    why = "A second queue gains nothing here: it has no core of its own to poll it"
    agrees = Agreement.DIFFERS if loses_there else Agreement.OPEN
    return Said(agrees, figures, f"{why}. {reading.differs(two.point)}")


def _sentences(pair: Pair, reading: Reading) -> Iterator[Said]:
    """Yield whether a case reaches line rate in both, or in neither with about the same share."""
    if pair.theirs is None or pair.ours is None:
        return
    full_there = pair.theirs >= _PUBLISHED_FULL
    sentence = (
        f"{pair.case}, {pair.size} B: {percent(pair.theirs, 2)} of line rate without loss in S3, "
        f"{pair.ours.words} {reading.where}"
    )
    if pair.ours.low >= FULL:
        yield Said(Agreement.AGREES if full_there else Agreement.DIFFERS, sentence)
    elif pair.ours.high is None or pair.ours.high >= FULL:
        yield Said(Agreement.OPEN, sentence)
    elif not full_there and _about(pair.theirs, pair.ours.low, pair.ours.high):
        yield Said(Agreement.AGREES, sentence)
    else:
        yield Said(Agreement.DIFFERS, sentence, reading.differs(pair.point))


def _about(share: float, low: float, high: float) -> bool:
    return low <= share * (1 + LEVEL) and high >= share * (1 - LEVEL)
