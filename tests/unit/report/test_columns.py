# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from wirespeed.model.result.observation import PollingThread
from wirespeed.report.page.html import html_report
from wirespeed.report.text.columns import COLUMNS, PAGE, TERMINAL, Column
from wirespeed.report.text.csv_table import csv_text
from wirespeed.report.text.summary import summary_lines
from wirespeed.store.records import RunRecord


def test_columns_names_of_csv_fields_are_given_once() -> None:
    names = [column.name for column in COLUMNS]
    assert all(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("column", [*TERMINAL, *PAGE], ids=lambda column: column.name)
def test_column_of_a_table_has_a_cell_and_a_heading(column: Column) -> None:
    assert column.cell is not None
    assert column.terminal if column in TERMINAL else column.page


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_column_with_a_heading_is_in_that_table(column: Column) -> None:
    assert bool(column.terminal) == (column in TERMINAL)
    assert bool(column.page) == (column in PAGE)


def test_column_added_to_the_three_orders_is_in_terminal_page_and_csv(
    run: RunRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    column = Column("label_length", lambda f: len(f.point.label),
                    lambda f: f"{len(f.point.label)} letters", "letters", "Letters")  # fmt: skip
    monkeypatch.setattr("wirespeed.report.text.csv_table.COLUMNS", (*COLUMNS, column))
    monkeypatch.setattr("wirespeed.report.text.summary.TERMINAL", (*TERMINAL, column))
    monkeypatch.setattr("wirespeed.report.page.html.PAGE", (*PAGE, column))
    point = run.points[0]
    run = replace(run, points=(point,))
    [row] = csv.DictReader(io.StringIO(csv_text(run)))
    assert row["label_length"] == str(len(point.label))
    heading, first, *_ = summary_lines(run, 200)
    assert heading.endswith("letters")
    assert first.endswith(f"{len(point.label)} letters")
    page = html_report(run)
    assert ">Letters</th>" in page
    assert f"{len(point.label)} letters</td>" in page


@pytest.mark.parametrize(
    ("roles", "share"),
    [
        ((("generator", 0), ("sut", 1)), 1),
        ((("sut", 1), ("sut", 2), ("sut", 2), ("generator", 0)), 2),
        ((("generator", 0),), None),
    ],
)
def test_per_core_rate_counts_each_cpu_of_the_sut_once(
    run: RunRecord, roles: tuple[tuple[str, int], ...], share: int | None
) -> None:
    point, *_ = run.points
    threads = tuple(PollingThread(role, role, cpu, 0, 0) for role, cpu in roles)
    last = point.trials[-1]
    observation = replace(last.trial.observation, threads=threads)
    last = replace(last, trial=replace(last.trial, observation=observation))
    point = replace(point, trials=(*point.trials[:-1], last))
    [row] = csv.DictReader(io.StringIO(csv_text(replace(run, points=(point,)))))
    found = row["best_fps_per_polling_core"]
    if share is None:
        assert not found
    else:
        assert float(found) == pytest.approx(float(row["ndr_fps"]) / share)
    assert "Mpps per<br>polling core</th>" in html_report(run)
