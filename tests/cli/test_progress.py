# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.fake_rig import FakeBench
from tests.measure.simulated import Recorder
from wirespeed.cli.progress import LiveTable, PlainLines
from wirespeed.measure.interface import UNLIMITED, Progress
from wirespeed.measure.run import run_search
from wirespeed.model.study import Study
from wirespeed.model.trial import Stage
from wirespeed.study.load import load_study


@pytest.fixture
def study() -> Study:
    return load_study("quickstart")


def shown(display: LiveTable) -> str:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(display.render())
    return console.export_text()


def test_the_live_display_follows_a_run(study: Study) -> None:
    display = LiveTable(study, "quickstart-7")
    assert "0 of 6 points" in shown(display)

    display.point_started(study.points[0])
    assert "bringing up the bench" in shown(display)

    display.progress(Progress(Stage.MRR, UNLIMITED, 1.0, attempt=1, left_s=42.0))
    text = shown(display)
    assert "mrr: as much as possible for 1 s" in text
    assert "left" in text

    result = run_search(study.points[0].spec.search, FakeBench(3e6).measure, UNLIMITED, display)
    text = shown(display)
    assert "lost 0 (0)" in text
    assert text.count("Mpps") >= 6

    display.point_complete(study.points[0], result)
    text = shown(display)
    assert "1 of 6 points" in text
    assert "NDR 2.99" in text


def test_time_left_counts_the_points_to_come(study: Study) -> None:
    out = io.StringIO()
    lines = PlainLines(study, Console(file=out, width=200, highlight=False))
    lines.point_started(study.points[0])
    result = run_search(study.points[0].spec.search, FakeBench(3e6).measure, UNLIMITED, Recorder())
    lines.progress(Progress(Stage.SEARCH, 1e6, 1.0, attempt=1, left_s=3600.0))
    lines.trial(result.trials[0])
    # Five more points of an hour each.
    assert "about 360 min" in out.getvalue()
