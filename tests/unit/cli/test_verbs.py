# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.fake_rig import FakeHost
from tests.unit.cli.conftest import Command
from wirespeed.study.shipped import shipped_names


def test_version(wirespeed: Command) -> None:
    assert re.fullmatch(r"wirespeed \d+\.\d+\.\d+\n", wirespeed("--version").out)


class TestStudy:
    def test_list_names_the_shipped_ones(self, wirespeed: Command) -> None:
        listed = {
            s["name"]: s["points"] for s in json.loads(wirespeed("study", "list", "--json").out)
        }
        assert listed["quickstart"] == 6
        assert listed["wire"] == 1
        assert "quickstart" in wirespeed("study", "list").out

    def test_show_says_what_would_run_and_runs_nothing(
        self, wirespeed: Command, host: FakeHost
    ) -> None:
        ended = wirespeed("study", "show", "quickstart", "--set", "traffic.flows=7")
        assert "pvp, 1518 B" in ended.out
        assert "traffic.flows = 7" in ended.out
        assert 'search.kind = "quick"' in ended.out
        assert not host.opened

    @pytest.mark.parametrize("study", shipped_names())
    def test_every_shipped_one_can_be_shown(self, wirespeed: Command, study: str) -> None:
        shown = wirespeed("study", "show", study)
        assert (shown.code, shown.err) == (0, "")
        assert "Every point has:" in shown.out

    def test_show_as_json_has_every_parameter(self, wirespeed: Command) -> None:
        shown = json.loads(wirespeed("study", "show", "wire", "--json").out)
        assert shown["points"][0]["parameters"]["sut"]["impair"]["rate_fps"] == 1e6


class TestReport:
    @pytest.fixture(autouse=True)
    def one_run(self, wirespeed: Command) -> None:
        assert wirespeed("run", "quickstart").code == 0

    def test_without_options_it_is_a_file_here(self, wirespeed: Command) -> None:
        ended = wirespeed("report", "quickstart-1")
        path = Path("quickstart-1.html").absolute()
        assert ended.out == f"Report: {path}\n"
        assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")

    def test_a_file_without_a_name_is_refused(self, wirespeed: Command) -> None:
        ended = wirespeed("report", "quickstart-1", "--html", "")
        assert (ended.code, "is a folder, not a file" in ended.err) == (2, True)

    def test_csv_goes_to_stdout_alone(self, wirespeed: Command) -> None:
        ended = wirespeed("report", "latest", "--csv")
        assert ended.out.count("\n") == 7
        assert not list(Path().glob("*.html"))

    def test_json_is_what_run_prints(self, wirespeed: Command) -> None:
        first = json.loads(wirespeed("run", "wire", "--json").out)
        assert json.loads(wirespeed("report", "wire-1", "--json").out) == first

    def test_redact_leaves_no_name_of_the_host(self, wirespeed: Command) -> None:
        options = ("--redact", "--html", "r.html", "--junit", "j.xml", "--json")
        ended = wirespeed("report", "latest", *options)
        files = [Path(name).read_text(encoding="utf-8") for name in ("r.html", "j.xml")]
        for text in (ended.out, *files):
            assert "testhost" not in text
            assert "host-1" in text

    def test_svg_is_a_file_a_chart(self, wirespeed: Command) -> None:
        ended = wirespeed("report", "latest", "--svg", "charts")
        names = {path.name for path in Path("charts").iterdir()}
        assert "quickstart-1-mpps.svg" in names
        assert len(names) == 1 + 6
        assert ended.out.count("Chart: ") == len(names)


class TestCompare:
    @pytest.fixture(autouse=True)
    def two_runs(self, wirespeed: Command, host: FakeHost) -> None:
        wirespeed("run", "wire")
        host.capacity_fps = 2.7e6
        wirespeed("run", "wire")

    def test_worse_than_the_tolerance_exits_with_1(self, wirespeed: Command) -> None:
        ended = wirespeed("compare", "wire-1", "wire-2", "--tolerance", "5%")
        assert ended.code == 1
        assert "-10.0%" in ended.out
        verdict, heading = ended.out.splitlines()[:2]
        assert verdict.startswith("wire-2 is worse than wire-1: 3 of 3 rates by more than 5.0% and")
        assert verdict.endswith(" at wire, 64 B (-10.0%).")
        assert heading.startswith("Mpps")

    def test_within_the_tolerance_exits_with_0(self, wirespeed: Command) -> None:
        assert wirespeed("compare", "wire-1", "wire-2", "--tolerance", "0.15").code == 0
        better = wirespeed("compare", "wire-2", "wire-1")
        assert (better.code, better.out.splitlines()[0].startswith("wire-1 is better")) == (0, True)
        same = wirespeed("compare", "wire-1", "wire-1")
        assert same.out.startswith("wire-1 is as fast as wire-1: none of 3 rates differs by more")

    def test_rates_of_other_units_have_their_unit_in_each_cell(self, wirespeed: Command) -> None:
        assert wirespeed("run", "s0-speedtest", "--set", "tcp.offloads=false").code == 0
        ended = wirespeed("compare", "latest", "latest")
        assert ended.code == 0
        assert ended.out.splitlines()[1].startswith("rate ")
        assert "Gbps" in ended.out
        assert "Mpps" not in ended.out

    def test_json_has_the_error(self, wirespeed: Command) -> None:
        ended = wirespeed("compare", "wire-1", "latest", "--json")
        assert ended.code == 1
        compared = json.loads(ended.out)
        assert (compared["worse"], compared["verdict"]) == (True, "worse")
        errors = [d["error"] for d in compared["differences"] if d["error"] is not None]
        assert errors
        assert all(0 <= error < 0.02 for error in errors)

    def test_runs_without_a_common_point(self, wirespeed: Command) -> None:
        wirespeed("run", "quickstart")
        ended = wirespeed("compare", "wire-1", "quickstart-1")
        assert ended.code == 2
        assert "no complete point with the same parameters" in ended.err


def test_runs_lists_the_newest_first(wirespeed: Command) -> None:
    assert "no such file, so no run yet" in wirespeed("runs").err
    wirespeed("run", "wire")
    wirespeed("run", "quickstart")
    listed = json.loads(wirespeed("runs", "--json").out)
    assert [run["id"] for run in listed] == ["quickstart-1", "wire-1"]
    assert "6/6" in wirespeed("runs").out
