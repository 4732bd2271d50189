# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.frame import FrameSizes
from wirespeed.model.result.result import BackToBack, Interval
from wirespeed.model.study.spec import Frames, Sut, Topology, Traffic
from wirespeed.model.words import frames, gbps, loss, microseconds, mpps, seconds, share, tiny
from wirespeed.report.base.answers import answers
from wirespeed.report.text.csv_table import csv_text
from wirespeed.report.views.figures import line_rate_words, point_figures, rate
from wirespeed.report.views.table import without_figures
from wirespeed.store.records import PointState, RunRecord


def spec(frame: str = "64", bidirectional: bool = False) -> Frames:
    topology = Topology("p2p", bidirectional=bidirectional)
    return Frames(topology, Traffic(frame=FrameSizes.parse(frame)))


def test_line_rate_of_10_gbit_at_64_octets() -> None:
    full = rate(10e9 / 672, spec())
    assert full.mpps == pytest.approx(14.88, abs=0.001)
    assert full.line_share == 1
    assert full.l1_bps == 10e9
    assert full.l2_bps == pytest.approx(10e9 * 64 / 84)


def test_two_directions_have_twice_the_room() -> None:
    assert spec(bidirectional=True).line_rate_fps == 2 * spec().line_rate_fps


def test_only_a_nic_has_a_line_rate_of_its_own() -> None:
    assert line_rate_words(spec()) == "nominal line rate"
    real = replace(spec(), topology=Topology("external"), sut=Sut(ports=("a", "b")))
    assert line_rate_words(real) == "line rate"


def test_an_imix_counts_with_its_mean() -> None:
    mean_bytes = (7 * 64 + 4 * 512 + 1518) / 12
    assert rate(1e6, spec("aaaaaaaddddg")).l2_bps == pytest.approx(1e6 * 8 * mean_bytes)


def test_a_lower_bound_that_failed_is_no_figure(run: RunRecord) -> None:
    point = run.points[0]
    assert point.result is not None
    failed = replace(point.result, ndr=Interval(None, None), not_measurable="lost at 10,000 fps")
    figures = point_figures(replace(point, result=failed))
    assert figures.ndr is None
    assert figures.best == figures.pdr
    assert figures.reason == "lost at 10,000 fps"


def test_a_point_that_was_not_measured_says_so(run: RunRecord) -> None:
    pending = replace(run.points[0], state=PointState.PENDING, result=None, trials=())
    assert point_figures(pending).reason == "not measured yet"
    assert point_figures(replace(pending, error="it broke")).reason == "it broke"
    assert not point_figures(pending).conformant


def test_points_without_a_figure_are_named(run: RunRecord) -> None:
    assert without_figures(run) == ()
    point = run.points[0]
    assert point.result is not None
    nothing = replace(
        point.result, ndr=None, pdr=None, mrr_fps=None, as_is=None, not_measurable="too noisy"
    )
    noisy = replace(point, result=nothing)
    pending = replace(run.points[1], state=PointState.PENDING, result=None)
    assert without_figures(replace(run, points=(noisy, pending, *run.points[2:]))) == (
        "p2p, 64 B",
        "p2p, 512 B",
    )
    burst = BackToBack(1e6, 900.0, 850, 950, 50, 1e-3)
    burst_only = replace(noisy, result=replace(nothing, back_to_back=burst))
    assert without_figures(replace(run, points=(burst_only,))) == ()


def test_a_point_of_grade_d_has_the_lower_end_of_its_bracket(run: RunRecord) -> None:
    figures = point_figures(run.points[3])
    assert (figures.ndr, figures.mrr) == (None, None)
    assert figures.carried is not None
    assert figures.best == figures.carried


def test_csv_has_one_line_a_point(run: RunRecord) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(run))))
    assert [row["label"] for row in rows] == [point.label for point in run.points]
    result = run.points[0].result
    assert result is not None
    assert result.ndr is not None
    assert result.ndr.lower is not None
    assert float(rows[0]["ndr_fps"]) == result.ndr.lower.load_fps
    assert rows[0]["rfc2544_conformant"] == "false"
    assert rows[0]["constant_fps"] == ""
    assert [row["grade"] for row in rows] == ["C", "B", "A", "D", "C", "B"]
    assert 0 < float(rows[0]["undisturbed_share"]) < 0.2
    assert float(rows[0]["as_is_loss_high"]) > 0.1
    assert float(rows[2]["as_is_loss_high"]) == 0
    assert rows[3]["ndr_fps"] == rows[3]["undisturbed_share"] == ""
    assert float(rows[3]["bracket_carried_fps"]) < float(rows[3]["bracket_overloads_fps"])


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (mpps(7_268_000), "7.268"), (mpps(14.88e6), "14.88"), (mpps(None), "\N{EN DASH}"),
        (gbps(9.9999e9), "10.00"), (loss(0), "0"), (loss(0.0000001), "1e-05%"),
        (loss(0.5), "50.0%"), (microseconds(1234), "1.2"), (microseconds(240), "0.24"),
        (microseconds(504_000), "504"), (seconds(0.25), "0.25 s"), (seconds(185), "3 min 05 s"),
        (share(0.78), "78%"), (share(0.031), "3.1%"), (share(0.0004), "<0.1%"), (share(0), "0%"),
        (frames(942), "942 frames"), (frames(3.1e6), "3.1 M frames"), (tiny(1.2e-6), "1e-6"),
    ],
)  # fmt: skip
def test_numbers_for_people(shown: str, expected: str) -> None:
    assert shown == expected


def test_answers_of_two_arrangements_of_one_kind_keeps_the_headline(run: RunRecord) -> None:
    near, far = PlacementKind.ONE_CACHE, PlacementKind.ACROSS_CACHES
    first = run.points[0].result
    assert first is not None
    result = replace(first, placement=far, placement_pairs=(near, far, far))
    other = replace(result, trials=(), mrr_fps=1e6, placement_pairs=(far, near, far))
    result = replace(result, by_placement=(other,))
    assert answers(replace(run.points[0], result=result)) == {far: result}
