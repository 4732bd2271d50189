# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.sample import sample_run
from wirespeed.model.result.observation import PollingThread
from wirespeed.model.result.thread_time import SutCpu
from wirespeed.report.page.html import html_report
from wirespeed.report.text.columns import COLUMNS, PAGE, TERMINAL, VERBOSE
from wirespeed.report.text.csv_table import csv_text
from wirespeed.report.text.summary import summary_lines, view_lines
from wirespeed.report.views.column import Column
from wirespeed.report.views.tcp_view import TcpView
from wirespeed.report.views.workloads import VIEWS
from wirespeed.store.records import RunRecord


def test_columns_names_of_csv_fields_are_given_once() -> None:
    names = [column.name for column in COLUMNS]
    assert all(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("column", [*TERMINAL, *VERBOSE, *PAGE], ids=lambda column: column.name)
def test_column_of_a_table_has_a_cell_and_a_heading(column: Column) -> None:
    assert column.cell is not None
    assert column.terminal if column in TERMINAL + VERBOSE else column.page


@pytest.mark.parametrize("column", [column for view in VIEWS for column in view.table_columns],
                         ids=lambda column: column.terminal)  # fmt: skip
def test_column_without_a_search_has_a_cell_and_both_headings(column: Column) -> None:
    assert column.cell is not None
    assert column.terminal
    assert column.page


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_column_with_a_heading_is_in_that_table(column: Column) -> None:
    without_search = any(column in view.table_columns for view in VIEWS)
    assert bool(column.terminal) == (column in TERMINAL + VERBOSE or without_search)
    assert bool(column.page) == (column in PAGE or without_search)


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


def test_column_added_to_the_tcp_view_is_in_terminal_page_and_csv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    column = Column("number_of_row", lambda f: f.part, lambda f: f"row {f.part}",
                    "row", "Number\nof row")  # fmt: skip
    tcp, *others = VIEWS
    assert isinstance(tcp, TcpView)
    tcp = replace(tcp, table_columns=(*tcp.table_columns, column))
    monkeypatch.setattr("wirespeed.report.views.workloads.VIEWS", (tcp, *others))
    monkeypatch.setattr("wirespeed.report.text.csv_table.COLUMNS", (*COLUMNS, column))
    run = sample_run(tmp_path, "vary.tcp.streams=[1]", "tcp.direction=both", study="s0-speedtest")
    run = replace(run, points=run.points[:1])
    [row] = csv.DictReader(io.StringIO(csv_text(run)))
    assert row["number_of_row"] == "0"
    assert row["grade"] == "A"
    heading, down, up = view_lines(tcp, run.points, 250)
    assert heading.endswith("row")
    assert down.endswith("row 0")
    assert up.endswith("row 1")
    page = html_report(run)
    assert ">Number<br>of row</th>" in page
    assert ">row 1</td>" in page


def test_tcp_table_of_a_narrow_terminal_fits_it(tmp_path: Path) -> None:
    run = sample_run(tmp_path, "vary.tcp.streams=[1]", study="s0-speedtest")
    run = replace(run, points=run.points[:1])
    heading, label, rates, hidden = view_lines(VIEWS[0], run.points, 100)
    assert max(len(line) for line in (heading, label, rates, hidden)) <= 100
    assert label == run.points[0].caption
    assert rates.endswith("path")
    assert hidden.startswith("Hidden, as the terminal is narrow: time taken, retransmits")


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


def test_cpu_seconds_are_those_of_the_trial_that_forwarded_most(run: RunRecord) -> None:
    point, *_ = run.points
    fastest = max(point.trials, key=lambda each: each.trial.forwarding_fps)
    trials = []
    for each in point.trials:
        cpu = SutCpu(each.trial.received * (3_000 if each is fastest else 9_000), 0)
        observation = replace(each.trial.observation, sut_cpu=cpu)
        trials.append(replace(each, trial=replace(each.trial, observation=observation)))
    run = replace(run, points=(replace(point, trials=tuple(trials)),))
    [row] = csv.DictReader(io.StringIO(csv_text(run)))
    assert float(row["sut_cpu_s_per_million_frames"]) == pytest.approx(3.0)
    heading, line = summary_lines(run, 300, verbose=True)
    assert "CPU s / M frames" in heading
    assert " 3 " in f"{line} "
    assert "CPU s / M frames" not in summary_lines(run, 300)[0]
