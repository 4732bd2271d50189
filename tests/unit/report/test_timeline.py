# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from wirespeed.model.result.series import COUNTED, OFFERED, RECEIVED
from wirespeed.model.result.trial import Stage
from wirespeed.report.charts.timeline import COLUMNS, deciding_trial, timeline_chart
from wirespeed.report.charts.timeline_svg import timeline_svg
from wirespeed.store.records import PointRecord, RunRecord, StoredTrial
from wirespeed.store.series import pack

SVG = "{http://www.w3.org/2000/svg}"


def with_values(point: PointRecord, name: str, at: int, value: float) -> PointRecord:
    """Return the point with one value of its deciding trial's series changed."""
    found = deciding_trial(point)
    assert found is not None
    number, stored = found
    packed = []
    for series in stored.series:
        values = list(series.values)
        if series.name == name:
            values[at] = value
        packed.append(pack(replace(series, values=tuple(values))))
    trials = list(point.trials)
    trials[number - 1] = replace(stored, packed=tuple(packed))
    return replace(point, trials=tuple(trials))


def test_the_last_trial_that_confirmed_the_figure_decides(run: RunRecord) -> None:
    for point in run.points:
        found = deciding_trial(point)
        assert found is not None
        number, stored = found
        assert stored is point.trials[number - 1]
        assert stored.trial.stage is Stage.CONFIRM
        assert all(t.trial.stage is not Stage.CONFIRM for t in point.trials[number:])


def test_without_one_it_is_the_last_at_the_load_that_was_found(run: RunRecord) -> None:
    point = run.points[0]
    search = tuple(t for t in point.trials if t.trial.stage is not Stage.CONFIRM)
    found = deciding_trial(replace(point, trials=search))
    assert found is not None
    assert point.result is not None
    assert point.result.ndr is not None
    assert point.result.ndr.lower is not None
    assert found[1].trial.intended_load_fps == pytest.approx(point.result.ndr.lower.load_fps)


def test_without_windows_there_is_no_timeline(run: RunRecord) -> None:
    point = run.points[0]
    bare = tuple(StoredTrial(t.ended_at, t.trial) for t in point.trials)
    assert timeline_chart(replace(point, trials=bare)) is None


def test_a_quiet_trial_has_nothing_excluded(run: RunRecord) -> None:
    timeline = timeline_chart(run.points[2])
    assert timeline is not None
    assert timeline.strips == ()
    assert set(timeline.counted) == {1.0}
    assert timeline.total_counted == timeline.total_left_out == 0


def test_every_reason_has_a_strip_with_its_share(run: RunRecord) -> None:
    point = run.points[0]
    timeline, found = timeline_chart(point), deciding_trial(point)
    assert timeline is not None
    assert found is not None
    shares = {strip.why: strip.share for strip in timeline.strips}
    assert set(shares) == {"core shared", "generator stopped", "SUT stopped", "not yet drained"}
    evidence = found[1].trial.observation.evidence
    stopped = sum(d.length_ns for d in evidence.disturbances if d.role == "sut")
    assert shares["SUT stopped"] == pytest.approx(stopped / 2e9, rel=1e-6)
    gated = found[1].trial.gated
    assert gated is not None
    (series,) = [s for s in found[1].series if s.name == COUNTED]
    assert sum(timeline.counted) / len(timeline.counted) == pytest.approx(
        gated.clean_share, rel=0.05
    )
    assert sum(series.values) == gated.clean_windows


def test_one_lossy_window_among_thousands_is_not_thinned_away(run: RunRecord) -> None:
    quiet = timeline_chart(run.points[2])
    assert quiet is not None
    assert len(quiet.offered_mpps) == COLUMNS
    for window in (0, 777, 1999):
        point = with_values(run.points[2], RECEIVED, window, 0.0)
        timeline = timeline_chart(point)
        assert timeline is not None
        lossy = [i for i, lost in enumerate(timeline.lost_counted) if lost]
        assert lossy == [next(i for i in range(COLUMNS) if (i + 1) * 2000 // COLUMNS > window)]
        assert timeline.total_counted == pytest.approx(timeline.intended_mpps * 1e3, abs=1)
        assert max(timeline.lost_counted) == timeline.total_counted
        assert timeline_svg(timeline).count('class="cross fail"') == 1
    assert 'class="cross fail"' not in timeline_svg(quiet)


def test_a_short_dip_of_the_load_is_kept(run: RunRecord) -> None:
    timeline = timeline_chart(with_values(run.points[2], OFFERED, 500, 0.0))
    assert timeline is not None
    assert min(low for low, _ in timeline.offered_mpps) == 0
    assert sum(low == 0 for low, _ in timeline.offered_mpps) == 1
    assert min(high for _, high in timeline.offered_mpps) > 0


def test_losses_outside_what_counts_are_kept_apart(run: RunRecord) -> None:
    timeline, found = timeline_chart(run.points[0]), deciding_trial(run.points[0])
    assert timeline is not None
    assert found is not None
    assert timeline.total_counted == 0
    assert timeline.total_left_out == found[1].trial.lost


def test_reasons_are_distinguished_without_colour(run: RunRecord) -> None:
    timeline = timeline_chart(run.points[0])
    assert timeline is not None
    drawn = ET.fromstring(timeline_svg(timeline, standalone=True))  # noqa: S314
    words = [text.text for text in drawn.iter(f"{SVG}text")]
    assert all(strip.why in words for strip in timeline.strips)
    assert "counts" in words
