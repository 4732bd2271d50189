# SPDX-License-Identifier: Apache-2.0
"""Check that each rate of a point with emulated CPUs is printed with its caveat."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.sample import sample_run
from wirespeed.explain.explain import explain
from wirespeed.model.words import EMULATED
from wirespeed.report.json.document import document
from wirespeed.report.page.html import html_report
from wirespeed.report.text.answer import answers_of
from wirespeed.report.text.csv_table import csv_text
from wirespeed.report.text.limits import measured
from wirespeed.report.text.sentence import point_sentence, short_sentence
from wirespeed.report.text.summary import summary_lines
from wirespeed.report.text.tiles import tiles
from wirespeed.store.records import PointRecord, RunRecord

WHY = "guests: this host has no /dev/kvm"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """Return a run whose first point is emulated; the others are not."""
    directory: Path = tmp_path_factory.mktemp("emulated")
    found = sample_run(directory)
    first, *others = found.points
    assert first.result is not None
    told = replace(first, result=replace(first.result, emulated=WHY), explanations=None)
    return replace(found, points=(told, *others))


@pytest.fixture
def emulated(run: RunRecord) -> PointRecord:
    return run.points[0]


def test_the_table_says_it_in_the_points_row(run: RunRecord) -> None:
    rows = summary_lines(run, 250)
    assert [EMULATED in row for row in rows[1:3]] == [True, False]


def test_sentence_and_log_line_say_it(emulated: PointRecord) -> None:
    assert emulated.result is not None
    assert point_sentence(emulated).startswith(f"{EMULATED.capitalize()} ({WHY}).")
    assert short_sentence(emulated.result).endswith(EMULATED)


def test_json_and_csv_have_the_reason_for_emulation(run: RunRecord) -> None:
    found = [point["result"]["emulated"] for point in document(run)["points"]]
    assert found == [WHY, *[None] * (len(found) - 1)]
    assert csv_text(run).count(WHY) == 1


def test_the_report_says_it_next_to_the_label(run: RunRecord) -> None:
    assert f"{run.points[0].label} ({EMULATED})" in html_report(run)


def test_an_emulated_point_has_no_tile_and_no_explained_speed(run: RunRecord) -> None:
    emulated = run.points[0]
    assert all(tile.label != emulated.label for tile in tiles(run))
    everything = replace(run, points=(emulated,))
    assert tiles(everything) == ()
    (answer,) = answers_of(everything)
    assert "emulated CPUs" in answer.rate
    assert "Mpps" not in str(answer)
    found = measured(emulated)
    assert found is not None
    first, *rest = explain(found)
    assert first.limit == "emulated"
    assert "cpu" not in {each.limit for each in rest}
