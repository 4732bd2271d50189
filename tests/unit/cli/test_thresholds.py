# SPDX-License-Identifier: Apache-2.0
"""Check --threshold and --junit of `run` and `report`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from tests.support.fake_rig import FakeHost
from tests.unit.cli.conftest import Command
from wirespeed.bench.interface import BenchError

SCHEMA = Path(__file__).parents[3] / "schemas" / "result.schema.json"
MET, MISSED = "wire, 64 B: ndr >= 2.9e6", "wire, 64 B: ndr >= 3.1e6"


def test_run_threshold_met_ends_with_0_and_is_printed(wirespeed: Command) -> None:
    ended = wirespeed("run", "wire", "--threshold", MET)
    assert ended.code == 0
    assert f"\nThresholds:\n  {MET}: met (2,99" in ended.out


def test_run_threshold_missed_ends_with_1_after_the_table(wirespeed: Command) -> None:
    ended = wirespeed("run", "wire", "--threshold", MET, "--threshold", MISSED)
    assert ended.code == 1
    assert f"  {MISSED}: missed (2,99" in ended.out
    assert f"wirespeed: 1 of 2 thresholds are not met: {MISSED}: missed (2,99" in ended.err
    assert "What limits these points: wirespeed explain wire-1 --store " in ended.err


def test_run_json_has_the_thresholds_and_keeps_the_schema(wirespeed: Command) -> None:
    ended = wirespeed("run", "wire", "--json", "--threshold", MISSED)
    assert ended.code == 1
    document = json.loads(ended.out)
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    [one] = document["thresholds"]
    assert (one["threshold"], one["point"], one["verdict"]) == (MISSED, "wire, 64 B", "missed")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("wire, 64 B: ndr => 5", "column 17: must be one of >="),
        ("wire, 65 B: ndr >= 5", 'study wire has no point "wire, 65 B"'),
    ],
)
def test_run_threshold_wrong_is_refused_before_measuring(
    wirespeed: Command, host: FakeHost, text: str, why: str
) -> None:
    ended = wirespeed("run", "wire", "--threshold", text)
    assert ended.code == 2
    assert why in ended.err
    assert not host.opened


def test_run_require_grade_is_a_threshold_of_every_point(
    wirespeed: Command, host: FakeHost
) -> None:
    host.disturbed_share = 1.0
    ended = wirespeed("run", "wire", "--require-grade", "C", "--junit", "out.xml")
    assert ended.code == 1
    assert "wire, 64 B: grade >= C: missed (grade D)" in ended.err
    failure = ET.parse("out.xml").find(".//failure")  # noqa: S314 - our own
    assert failure is not None


def test_run_interrupted_prints_a_command_with_its_thresholds(
    wirespeed: Command, host: FakeHost
) -> None:
    def broken(number: int) -> None:
        if number == 3:
            raise BenchError("the generator ended", "Look at its log.")

    host.before_trial = broken
    asked = ("--threshold", MET, "--threshold", "*: grade >= C", "--junit", "out.xml")
    ended = wirespeed("run", "wire", *asked)
    [line] = [line for line in ended.err.splitlines() if "Continue: " in line]
    words = shlex.split(line.partition("Continue: ")[2])
    texts = [words[i + 1] for i, word in enumerate(words) if word == "--threshold"]
    assert texts == [MET, "*: grade >= C"]
    assert words[words.index("--junit") + 1] == "out.xml"


def test_report_threshold_judges_a_stored_run(wirespeed: Command) -> None:
    wirespeed("run", "wire")
    met = wirespeed("report", "latest", "--threshold", MET, "--junit", "out.xml")
    assert met.code == 0
    assert not list(Path().glob("*.html"))
    suite = ET.parse("out.xml").getroot()[0]  # noqa: S314 - our own
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("wire-1", "1", "0")
    missed = wirespeed("report", "latest", "--threshold", MISSED, "--html", "r.html")
    assert missed.code == 1
    assert f"  {MISSED}: missed (2,99" in missed.out
    page = Path("r.html").read_text(encoding="utf-8")
    assert '<section id="thresholds">' in page
    assert "<td>ndr &gt;= 3.1e6</td>" in page


def test_report_threshold_of_no_point_is_refused(wirespeed: Command) -> None:
    wirespeed("run", "wire")
    ended = wirespeed("report", "latest", "--threshold", "pvp, 64 B: ndr >= 1")
    assert ended.code == 2
    assert 'run wire-1 has no point "pvp, 64 B"' in ended.err
    assert not list(Path().glob("*.html"))


def test_report_junit_into_no_folder_is_refused(wirespeed: Command) -> None:
    wirespeed("run", "wire")
    ended = wirespeed("report", "latest", "--junit", "no/out.xml")
    assert ended.code == 2
    assert "no: there is no such folder" in ended.err
