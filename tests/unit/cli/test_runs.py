# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.unit.cli.conftest import Command
from wirespeed.cli.show.runs_table import since
from wirespeed.model.errors import BadInput

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("7d", datetime(2026, 11, 17, 12, tzinfo=UTC)),
        ("12h", datetime(2026, 11, 24, 0, tzinfo=UTC)),
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T06:00+02:00", datetime(2026, 11, 1, 4, tzinfo=UTC)),
    ],
)
def test_since_reads_dates_and_ages(text: str, wanted: datetime) -> None:
    assert since(text, NOW) == wanted


@pytest.mark.parametrize("text", ["", "7", "7w", "-7d", "yesterday", "2026-13-01"])
def test_since_wrong_text_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--since"):
        since(text, NOW)


def test_runs_show_result_grade_and_labels(wirespeed: Command) -> None:
    wirespeed("run", "wire")
    assert wirespeed("runs", "rename", "wire-1", "before").code == 0
    assert wirespeed("runs", "tag", "before", "lab").out == "Tags of run before: lab.\n"
    assert wirespeed("runs", "note", "before", "C-states off").code == 0
    heading, row, said = wirespeed("runs").out.splitlines()
    assert heading.split()[:4] == ["run", "points", "result", "grade"]
    assert row.split()[:7] == ["wire-1", "(before)", "1/1", "NDR", "2.999", "Mpps", "A"]
    assert said == "before: tags lab; C-states off"
    [one] = json.loads(wirespeed("runs", "--json").out)
    assert (one["name"], one["tags"], one["note"]) == ("before", ["lab"], "C-states off")
    assert one["result"]["figure"] == "NDR"
    assert one["result"]["label"] == "wire, 64 B"


def test_runs_filter_by_study_age_and_tag(wirespeed: Command) -> None:
    wirespeed("run", "wire")
    wirespeed("runs", "tag", "wire-1", "lab")

    def listed(*options: str) -> list[str]:
        return [run["id"] for run in json.loads(wirespeed("runs", *options, "--json").out)]

    for options in (["--study", "wire"], ["--since", "1d"], ["--tag", "lab"]):
        assert listed(*options) == ["wire-1"], options
    for options in (["--study", "quickstart"], ["--since", "2999-01-01"], ["--tag", "new"]):
        assert listed(*options) == [], options
    assert "None of the 1 runs in " in wirespeed("runs", "--study", "quickstart").out


def test_named_run_is_taken_by_every_verb(wirespeed: Command) -> None:
    wirespeed("run", "wire")
    wirespeed("runs", "rename", "latest", "before")
    assert wirespeed("compare", "before", "wire-1").code == 0
    assert wirespeed("explain", "before").code == 0
    assert wirespeed("report", "before", "--csv").code == 0
    assert wirespeed("runs", "delete", "before", "--yes").out.startswith("Run wire-1 is deleted")
