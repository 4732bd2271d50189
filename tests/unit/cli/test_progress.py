# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
from queue import SimpleQueue

import pytest
from rich.console import Console

from tests.support.sample import MadeUp
from wirespeed.cli.show.detail import Detail
from wirespeed.cli.show.heartbeat import EVERY_S, Clock, heartbeat
from wirespeed.cli.show.live_table import LiveTable
from wirespeed.cli.show.progress import PointLines, TrialLines, watching
from wirespeed.measure.interface import UNLIMITED, Progress
from wirespeed.model.result.result import Grade
from wirespeed.model.result.trial import Stage
from wirespeed.model.study.study import Study
from wirespeed.study.load import load_study


@pytest.fixture
def study() -> Study:
    return load_study("quickstart")


@pytest.fixture
def made(study: Study) -> MadeUp:
    return MadeUp(study.points[0].workload, Grade.C, seed=1)


def console() -> tuple[io.StringIO, Console]:
    out = io.StringIO()
    return out, Console(file=out, width=200, highlight=False, markup=False)


def shown(display: LiveTable) -> str:
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(display.render())
    return console.export_text()


def test_the_live_display_follows_a_run(study: Study, made: MadeUp) -> None:
    display = LiveTable(study, "quickstart-7")
    assert "0 of 6 points" in shown(display)

    display.point_started(study.points[0])
    assert "bringing up the bench" in shown(display)

    display.progress(Progress(Stage.MRR, UNLIMITED, 1.0, attempt=1, left_s=42.0))
    text = shown(display)
    assert "mrr: as much as possible for 1 s" in text
    assert "left" in text

    result = made.search()
    for trial in made.trials:
        display.trial(trial)
    text = shown(display)
    assert "; clean " in text
    assert text.count("Mpps") >= 6

    display.point_complete(study.points[0], result)
    text = shown(display)
    assert "1 of 6 points" in text
    assert "NDR 7.771" in text
    assert "grade C" in text


def test_a_log_has_a_line_a_point_with_its_grade(study: Study, made: MadeUp) -> None:
    out, to = console()
    lines = PointLines(study, to, Clock())
    result = made.search()
    lines.point_skipped(study.points[0], "complete already")
    lines.point_started(study.points[1])
    lines.progress(Progress(Stage.SEARCH, 1e6, 1.0, attempt=1, left_s=3600.0))
    for trial in made.trials:
        lines.trial(trial)
    lines.point_complete(study.points[1], result)
    skipped, found = out.getvalue().splitlines()
    assert skipped == "[1/6] p2p, 64 B: complete already"
    assert found.startswith("[2/6] p2p, 512 B: NDR 7.771, PDR 7.794, MRR 7.849 Mpps, grade C (")
    assert found.endswith(" left)")


def test_verbose_adds_a_line_a_trial(study: Study, made: MadeUp) -> None:
    out, to = console()
    lines = TrialLines(study, to, Clock())
    result = made.search()
    lines.point_started(study.points[0])
    for trial in made.trials:
        lines.trial(trial)
    lines.point_complete(study.points[0], result)
    printed = out.getvalue().splitlines()
    assert len(printed) == 2 + len(made.trials)
    assert printed[0] == "[1/6] p2p, 64 B: bringing up the bench"
    assert sum("; clean " in line for line in printed) > len(made.trials) / 2
    assert all("invalid" not in line for line in printed)


def test_time_left_counts_the_points_to_come(study: Study, made: MadeUp) -> None:
    out, to = console()
    lines = TrialLines(study, to, Clock())
    lines.point_started(study.points[0])
    made.search()
    lines.progress(Progress(Stage.SEARCH, 1e6, 1.0, attempt=1, left_s=3600.0))
    lines.trial(made.trials[0])
    # Five more points of an hour each.
    assert "about 360 min" in out.getvalue()


class HandClock(Clock):
    """Time that the test moves: each wait is announced, and lasts until the test answers."""

    def __init__(self) -> None:
        self.at_s = 0.0
        self.waits: SimpleQueue[float] = SimpleQueue()
        self._answers: SimpleQueue[bool] = SimpleQueue()

    def now(self) -> float:
        return self.at_s

    def wait(self, seconds: float) -> bool:
        self.waits.put(seconds)
        return self._answers.get()

    def end(self) -> None:
        self._answers.put(True)

    def pass_time(self, seconds: float) -> None:
        """Let the wait of the heartbeat end after that time."""
        self.at_s += seconds
        self._answers.put(False)


def test_heartbeat_silent_log_has_a_line_every_30_s(study: Study) -> None:
    out, to = console()
    clock = HandClock()
    lines = PointLines(study, to, clock)
    lines.point_started(study.points[0])
    with heartbeat(lines, clock):
        assert clock.waits.get() == EVERY_S == 30.0
        clock.pass_time(EVERY_S)
        assert clock.waits.get() == EVERY_S
        lines.progress(Progress(Stage.SEARCH, 4.5e6, 60.0, attempt=2, left_s=50.0))
        clock.pass_time(EVERY_S)
        assert clock.waits.get() == EVERY_S
    first, second = out.getvalue().splitlines()
    assert first.startswith("[1/6] p2p, 64 B: bringing up the bench; ")
    assert second.startswith("[1/6] p2p, 64 B: search: 4.500 Mpps for 60 s, attempt 2; ")
    assert second.endswith(" left")


def test_heartbeat_waits_30_s_after_the_last_line(study: Study) -> None:
    out, to = console()
    clock = HandClock()
    lines = PointLines(study, to, clock)
    with heartbeat(lines, clock):
        assert clock.waits.get() == EVERY_S
        clock.at_s = 20.0
        lines.point_skipped(study.points[0], "complete already")
        clock.pass_time(10.0)
        assert clock.waits.get() == 20.0
    assert out.getvalue().splitlines() == ["[1/6] p2p, 64 B: complete already"]


def test_heartbeat_ends_with_its_body_on_an_error(study: Study) -> None:
    clock = HandClock()
    lines = PointLines(study, console()[1], clock)

    def broken() -> None:
        with heartbeat(lines, clock):
            clock.waits.get()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    assert clock.waits.empty()


def test_watching_quiet_prints_nothing(
    study: Study, made: MadeUp, capsys: pytest.CaptureFixture[str]
) -> None:
    with watching(study, "quickstart-7", Detail.QUIET) as watcher:
        watcher.point_started(study.points[0])
        result = made.search()
        watcher.point_complete(study.points[0], result)
    assert capsys.readouterr() == ("", "")
