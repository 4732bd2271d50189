# SPDX-License-Identifier: Apache-2.0
"""Check that a run that was cut short is kept, shown and continued."""

from __future__ import annotations

import json

import pytest

from tests.support.fake_rig import FACTS, FakeHost
from tests.unit.cli.conftest import Command
from wirespeed.bench.interface import BenchError
from wirespeed.session import rig


class TestABenchThatBreaks:
    @pytest.fixture
    def broken(self, host: FakeHost) -> FakeHost:
        def breaks(trial: int) -> None:
            if len(host.opened) == 2 and trial == 3:
                raise BenchError("Open vSwitch ended (exit status 139)", "See its log.")

        host.before_trial = breaks
        return host

    def test_a_failed_bench_is_one_error_and_the_run_is_kept(
        self, wirespeed: Command, broken: FakeHost
    ) -> None:
        ended = wirespeed("run", "quickstart", "--json")
        assert ended.code == 1
        assert ended.out == ""
        assert "wirespeed: Open vSwitch ended (exit status 139)\nSee its log." in ended.err
        assert "Traceback" not in ended.err
        assert "wirespeed run quickstart-1 --resume" in ended.err
        assert broken.closed == 2

    @pytest.mark.parametrize("named", ["quickstart", "quickstart-1"])
    def test_resume_measures_the_rest(
        self, wirespeed: Command, broken: FakeHost, named: str
    ) -> None:
        wirespeed("run", "quickstart")
        broken.before_trial = lambda _trial: None
        broken.opened.clear()
        ended = wirespeed("run", named, "--resume", "--json")
        assert ended.code == 0
        assert json.loads(ended.out)["run"]["complete"] is True
        assert len(broken.opened) == 5
        assert "[1/6] p2p, 64 B: complete already" in ended.err
        summaries = json.loads(wirespeed("runs", "--json").out)
        assert [(s["id"], s["complete"]) for s in summaries] == [("quickstart-1", 6)]

    @pytest.mark.usefixtures("broken")
    def test_report_shows_what_there_is(self, wirespeed: Command) -> None:
        wirespeed("run", "quickstart")
        ended = wirespeed("report", "latest", "--json")
        points = json.loads(ended.out)["points"]
        assert [p["state"] for p in points] == ["complete", "failed", *["pending"] * 4]
        assert points[1]["error"] == "Open vSwitch ended (exit status 139)"

    @pytest.mark.usefixtures("broken")
    def test_a_changed_study_is_not_resumed(self, wirespeed: Command) -> None:
        wirespeed("run", "quickstart")
        ended = wirespeed("run", "quickstart", "--resume", "--set", "traffic.flows=1")
        assert ended.code == 2
        assert "other points" in ended.err
        ended = wirespeed("run", "quickstart-1", "--resume", "--set", "traffic.flows=1")
        assert ended.code == 2
        assert "cannot change run quickstart-1" in ended.err


def test_resume_without_an_incomplete_run_is_refused(wirespeed: Command) -> None:
    wirespeed("run", "wire")
    ended = wirespeed("run", "wire", "--resume")
    assert ended.code == 2
    assert "no incomplete run" in ended.err


def test_another_host_does_not_continue_a_run(
    wirespeed: Command, host: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(trial: int) -> None:
        if trial == 3:
            raise BenchError("broke")

    host.before_trial = breaks
    wirespeed("run", "wire")
    from dataclasses import replace

    other = replace(FACTS, host="elsewhere")
    monkeypatch.setattr(rig, "local_rig", lambda: replace(host.rig, facts=other))
    ended = wirespeed("run", "wire", "--resume")
    assert ended.code == 2
    assert "begun on host testhost, this is elsewhere" in ended.err
