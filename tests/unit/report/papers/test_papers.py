# SPDX-License-Identifier: Apache-2.0
"""Check that points are compared with the paper's rows that they repeat, and the findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.sample import sample_run
from wirespeed.model.plan.prediction import Load, Prediction, Resource
from wirespeed.model.result.result import Bound, Bracket, Interval, SearchResult
from wirespeed.model.study.spec import Frames
from wirespeed.report.page.html import html_report
from wirespeed.report.papers import s2, s3, s4
from wirespeed.report.papers.beside import beside_published, counts, panels
from wirespeed.report.papers.interface import Agreement, Beside
from wirespeed.report.papers.page import write_page
from wirespeed.report.papers.reading import PREDICTED, Share
from wirespeed.store.records import PointRecord, PointState, RunRecord
from wirespeed.study.load import load_study

Rate = Callable[[PointRecord], float]


def full_load(run: RunRecord, rate: Rate) -> RunRecord:
    """Return the run as if each point had this MRR, in frames/s."""
    return replace(run, points=tuple(
        replace(p, result=SearchResult("mrr", False, (), mrr_fps=rate(p))) for p in run.points
    ))  # fmt: skip


def zero_loss(run: RunRecord, share: Rate) -> RunRecord:
    """Return the run as if each point carried this share of line rate without loss.

    1% more is too much where that is below line rate.
    """

    def changed(point: PointRecord) -> PointRecord:
        low = share(point) * point.frames.line_rate_fps
        upper = None if share(point) >= 1 else Bound(1.01 * low, low, 0.01)
        ndr = Interval(Bound(low, low, 0.0), upper)
        return replace(point, result=SearchResult("quick", False, (), ndr=ndr, pdr=ndr))

    return replace(run, points=tuple(map(changed, run.points)))


def comparison_of(run: RunRecord) -> Beside:
    found = beside_published(run)
    assert found is not None
    return found


def judgement_on(found: Beside, start: str) -> tuple[Agreement, str]:
    [one] = [one for one in found.said if one.sentence.startswith(start)]
    return one.agreement, one.text


@pytest.fixture(scope="module")
def s2_run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    sizes, vnfs = "traffic.frame=512", "vary.topology.vnfs=[1, 2, 4]"
    path = tmp_path_factory.mktemp("s2")
    return sample_run(path, sizes, vnfs, "sut.vswitch.kind=ovs-dpdk", "topology.kind=chain",
                      study="s2-interfaces")  # fmt: skip


def s2_theirs(point: PointRecord, summed: bool = False) -> float:
    row = s2.row_of(point.frames)
    assert row is not None
    found = s2.published_fps(row)
    assert found is not None
    return found if summed else found / row.passes


def test_s2_counts_a_frame_once_for_each_vnf(s2_run: RunRecord) -> None:
    run = replace(s2_run, points=s2_run.points[1:])
    found = comparison_of(full_load(run, s2_theirs))
    cells = found.tables[0].rows[1]
    assert cells == ("vhost-user, east-west, 512 B", "4", "3.882", "15.53", "3.882", "15.53")
    assert {one.agreement for one in found.said} == {Agreement.AGREES}


def test_s2_differs_where_ours_falls_and_its_is_level(s2_run: RunRecord) -> None:
    run = replace(s2_run, points=s2_run.points[1:])
    found = comparison_of(full_load(run, lambda p: 8e6 / p.frames.topology.vnfs**2))
    agreement, text = judgement_on(found, "vhost-user, east-west, 512 B, end to end")
    assert agreement is Agreement.DIFFERS
    assert "in S2 it stays level" in text
    assert "here it falls, to 0.25x" in text


def test_s2_rows_of_every_point() -> None:
    rows = {s2.row_of(p.workload) for p in load_study("s2-interfaces").points
            if isinstance(p.workload, Frames)}  # fmt: skip
    assert None not in rows
    assert len(rows) == 162
    assert all(s2.published_fps(row) is not None for row in rows if row is not None)
    assert s2.published_fps(s2.Row("vhost", "east-west", 8, 64)) == 41.46e6
    assert s2.published_fps(s2.Row("virtio", "north-south", 8, 1518)) == 80_000


@pytest.fixture(scope="module")
def s3_run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    path = tmp_path_factory.mktemp("s3")
    return sample_run(path, "traffic.frame=4096", study="s3-jumbo-zpl")


def by_queues(one: float, two: float) -> Rate:
    return lambda p: one if p.frames.sut.vswitch.rx_queues == 1 else two


@pytest.mark.parametrize(
    ("one", "two", "agreement", "says"),
    [
        (0.80, 1.0, Agreement.AGREES, "A second queue gains here"),
        (0.80, 0.80, Agreement.DIFFERS, "A second queue gains nothing here"),
        (0.80, 0.70, Agreement.DIFFERS, "A second queue gains nothing here"),
        (1.0, 1.0, Agreement.DIFFERS, "One queue is enough here"),
    ],
)
def test_s3s_finding_is_judged_in_both_directions(
    s3_run: RunRecord, one: float, two: float, agreement: Agreement, says: str
) -> None:
    found = comparison_of(zero_loss(s3_run, by_queues(one, two)))
    judged, text = judgement_on(found, "4096 B, two bridges")
    assert judged is agreement
    assert says in text
    assert "86.85% of line rate without loss in S3" in text


@pytest.mark.parametrize(
    ("share", "agreement"), [(0.82, Agreement.AGREES), (0.4, Agreement.DIFFERS)]
)
def test_below_line_rate_in_both_is_not_enough_to_agree(
    s3_run: RunRecord, share: float, agreement: Agreement
) -> None:
    found = comparison_of(zero_loss(s3_run, by_queues(share, 1.0)))
    assert judgement_on(found, "case 5, 4096 B: 86.85%")[0] is agreement


def test_s3_s_finding_is_open_where_brackets_overlap(s3_run: RunRecord) -> None:
    def bracketed(point: PointRecord) -> PointRecord:
        line = point.frames.line_rate_fps
        result = SearchResult("quick", False, (), bracket=Bracket(0.5 * line, 0.9 * line))
        if point.frames.sut.vswitch.rx_queues == 2:
            result = replace(result, bracket=Bracket(0.6 * line, 0.99 * line))
        return replace(point, result=result)

    run = replace(s3_run, points=tuple(map(bracketed, s3_run.points)))
    assert judgement_on(comparison_of(run), "4096 B, two bridges")[0] is Agreement.OPEN


def test_s3_cases_and_shares(s3_run: RunRecord) -> None:
    assert [s3.case_of(p.frames) for p in s3_run.points] == [
        "case 1", "case 3", "case 4", "case 5", "case 6", "case 7", "case 8",
    ]  # fmt: skip
    shares = s3.published_shares()
    assert shares["case 5", 4096] == pytest.approx(0.86852, abs=2e-5)
    assert shares["case 5", 8192] == pytest.approx(0.99227, abs=2e-5)
    assert len(shares) == 24
    found = comparison_of(zero_loss(s3_run, by_queues(0.868, 1.0)))
    assert judgement_on(found, "case 5, 4096 B")[0] is Agreement.AGREES
    assert judgement_on(found, "case 3, 4096 B")[0] is Agreement.AGREES
    found = comparison_of(zero_loss(s3_run, by_queues(1.0, 0.5)))
    assert judgement_on(found, "case 5, 4096 B")[0] is Agreement.DIFFERS
    assert judgement_on(found, "case 3, 4096 B")[0] is Agreement.DIFFERS


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (Share(0.5, 0.505), "50.0%"),
        (Share(0.5, 0.9), "50.0% to 90.0%"),
        (Share(0.5, None), "at least 50.0%"),
        (Share(1.0, None), "100.0%"),
    ],
)
def test_a_share_is_written_as_percent_or_range(share: Share, words: str) -> None:
    assert share.words == words


@pytest.fixture(scope="module")
def s4_run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    path = tmp_path_factory.mktemp("s4")
    sizes = "vary.traffic.frame=[64, 1518]"
    return sample_run(path, sizes, "search.kind=quick", study="s4-onp")


def test_s4_in_its_own_tables(s4_run: RunRecord) -> None:
    theirs = s4.published_shares()
    assert theirs["2.1", 64] == pytest.approx(0.58921, abs=1e-5)

    def share(point: PointRecord) -> float:
        place = (str(s4.case_of(point.frames)), point.frames.traffic.frame.sizes[0])
        return theirs.get(place, 0.05)

    found = comparison_of(zero_loss(s4_run, share))
    throughput = {(row[0], row[1]): row for row in found.tables[0].rows}
    assert throughput["2.1", "64"][2:] == (
        "58.9%", "17,536,013", "29,761,905", "11,784", "58.921%",
    )  # fmt: skip
    assert judgement_on(found, "2.1, share")[0] is Agreement.AGREES
    assert judgement_on(found, "Open vSwitch next to host")[0] is Agreement.AGREES
    assert judgement_on(found, "Open vSwitch with DPDK next to plain Linux")[0] is Agreement.AGREES
    assert {row[0] for row in found.tables[0].rows} == {
        "1.1", "1.2", "2.1", "2.2", "Linux L2", "Linux L3", "3.1", "3.2", "4.1", "4.2", "4.3",
    }  # fmt: skip
    level = comparison_of(zero_loss(s4_run, lambda _: 0.5))
    assert judgement_on(level, "2.1, share")[0] is Agreement.DIFFERS
    assert judgement_on(level, "Open vSwitch with DPDK next to plain Linux")[0] is Agreement.DIFFERS


def test_points_not_run_stay_open_in_the_comparison(s4_run: RunRecord) -> None:
    points = tuple(
        replace(p, result=None, state=PointState.NOT_RUN, error="needs lab_hosts >= 2")
        if p.frames.topology.kind == "sriov" else p
        for p in s4_run.points
    )  # fmt: skip
    run = replace(s4_run, points=points)
    found = comparison_of(run)
    assert judgement_on(found, "3.1") == (Agreement.OPEN, "3.1: not run: needs lab_hosts >= 2.")
    assert found.without == {}
    html = html_report(run)
    for said in (
        "Next to S4 (HP, 2015)",
        "Latency and jitter",
        "0.000472",
    ):
        assert said in html or said == "0.000472"
    assert all(svg.startswith("<svg") for _, _, svg in panels(found))


def test_s1_says_of_each_step_and_of_line_rate(tmp_path: Path) -> None:
    run = sample_run(tmp_path, study="s1-epa-gains")
    rates = {0: 0.5, 1: 0.6, 2: 0.8, 3: 1.0}

    def steps(point: PointRecord) -> float:
        return rates[len(point.factors)] * (1 - point.repeat / 1000)

    better = comparison_of(zero_loss(run, steps))
    assert judgement_on(better, "S1's steps are in its order here")[0] is Agreement.AGREES
    assert judgement_on(better, "Fully tuned")[0] is Agreement.AGREES
    worse = comparison_of(zero_loss(run, lambda p: 1.05 - steps(p)))
    assert judgement_on(worse, "S1's steps are not in its order")[0] is Agreement.DIFFERS
    assert judgement_on(worse, "Fully tuned")[0] is Agreement.DIFFERS
    assert "one NUMA node" in judgement_on(worse, "In S1 it gains; here, of the NDR: NUMA node")[1]
    same = comparison_of(zero_loss(run, lambda p: 0.9 - p.repeat / 100))
    assert judgement_on(same, "No step loses here")[0] is Agreement.OPEN
    assert counts(better).startswith("agrees 5, differs 0")


def test_a_page_names_its_charts_and_every_sentence(s3_run: RunRecord, tmp_path: Path) -> None:
    run = zero_loss(s3_run, by_queues(0.8, 1.0))
    (tmp_path / "s3-jumbo-zpl-old.svg").write_text("<svg/>", encoding="utf-8")
    path = write_page(run, tmp_path)
    page = path.read_text(encoding="utf-8")
    charts = sorted(each.name for each in tmp_path.glob("*.svg"))
    assert charts == ["s3-jumbo-zpl-s3-4096.svg"]
    assert all(f"]({name})" in page for name in charts)
    assert all(one.text in page for one in comparison_of(run).said)
    assert "**no point**: case 2" in page
    assert run.host.host not in page


def predicted_at(run: RunRecord, rate: Rate) -> RunRecord:
    """Return the run as if each point were predicted to carry this rate, in frames/s."""
    limit = Load(Resource.PMDS, 100.0, 1.0)
    return replace(run, points=tuple(
        replace(p, predicted=Prediction(rate(p), rate(p), rate(p), (limit,), None, 0.9, 10.0, ""))
        for p in run.points
    ))  # fmt: skip


def test_page_with_prediction_has_both_curves_and_columns(
    s2_run: RunRecord, tmp_path: Path
) -> None:
    chains = replace(s2_run, points=s2_run.points[1:])
    run = full_load(chains, lambda p: 8e6 / p.frames.topology.vnfs**2)
    page = write_page(run, tmp_path, predicted_at(chains, s2_theirs)).read_text(encoding="utf-8")
    assert "Mpps here, end to end" in page
    assert "Mpps predicted there, end to end" in page
    assert "**differs**: vhost-user, east-west, 512 B, end to end" in page
    assert "**agrees**: vhost-user, east-west, 512 B, end to end" in page
    drawn = "".join(each.read_text(encoding="utf-8") for each in tmp_path.glob("*.svg"))
    assert "predicted there" in drawn


def test_prediction_that_is_missing_gives_its_reason(s2_run: RunRecord) -> None:
    why = "sut.vswitch.kind = 'linux-bridge' is not predicted"
    run = replace(s2_run, points=tuple(replace(p, error=why) for p in s2_run.points))
    found = beside_published(run, PREDICTED)
    assert found is not None
    assert {one.agreement for one in found.said} == {Agreement.OPEN}
    assert all(why in one.text for one in found.said)


@pytest.mark.parametrize(("share", "low"), [(0.5, 0.45), (1.2, 1.0)])
def test_predicted_share_is_lossless_and_bounded_by_the_link(
    s3_run: RunRecord, share: float, low: float
) -> None:
    run = predicted_at(s3_run, lambda p: share * p.frames.line_rate_fps)
    found = PREDICTED.lossless(run.points[0])
    assert found is not None
    assert found.low == pytest.approx(low)


def test_a_run_without_a_published_table_has_none(run: RunRecord) -> None:
    assert beside_published(run) is None
