# SPDX-License-Identifier: Apache-2.0
"""Show progress while a study runs: as a live table, or as a line for each point.

Everything goes to stderr: stdout is for results.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live

from wirespeed.cli.console import plain_console
from wirespeed.cli.show.detail import Detail
from wirespeed.cli.show.heartbeat import Clock, heartbeat
from wirespeed.cli.show.live_table import LiveTable
from wirespeed.cli.show.progress_words import Counter, doing
from wirespeed.measure.interface import Progress
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.study import Point, Study
from wirespeed.model.words import mpps, seconds
from wirespeed.report.base.trial_words import trial_words
from wirespeed.report.text.sentence import short_sentence
from wirespeed.study.interface import Watcher


@contextmanager
def watching(study: Study, run_id: str, detail: Detail = Detail.NORMAL) -> Iterator[Watcher]:
    """Yield what shows progress: a table on a terminal, else lines with a heartbeat."""
    console = plain_console(stderr=True)
    if detail is Detail.QUIET:
        yield Silent()
        return
    if detail is Detail.VERBOSE or not console.is_terminal:
        clock = Clock()
        kind = TrialLines if detail is Detail.VERBOSE else PointLines
        lines = kind(study, console, clock)
        with heartbeat(lines, clock):
            yield lines
        return
    display = LiveTable(study, run_id)
    with Live(
        console=console, get_renderable=display.render, auto_refresh=False, transient=True
    ) as live:
        display.redraw = live.refresh
        yield display


class Silent:
    """Print nothing."""

    def point_skipped(self, point: Point, why: str) -> None: ...
    def point_started(self, point: Point) -> None: ...
    def progress(self, progress: Progress) -> None: ...
    def trial(self, trial: Trial) -> None: ...
    def run_ended(self, rates: str, number: int) -> None: ...
    def run_failed(self, why: str) -> None: ...
    def point_complete(self, point: Point, result: SearchResult) -> None: ...


class PointLines:
    """Print a line for each point, for logs and pipes: its figures and their grade."""

    def __init__(self, study: Study, console: Console, clock: Clock) -> None:
        self._counter = Counter(study)
        self._console = console
        self._clock = clock
        self._doing = ""
        self._left_s: float | None = None
        self.spoke_at = clock.now()

    def beat(self) -> None:
        """Print what goes on at the point."""
        self._line(f"{self._doing}; {seconds(self._counter.elapsed_s())} so far{self._left()}")

    def _left(self) -> str:
        return "" if self._left_s is None else f", about {seconds(self._left_s)} left"

    def _line(self, text: str) -> None:
        counter = self._counter
        self.spoke_at = self._clock.now()
        self._console.print(
            f"[{counter.number}/{counter.total}] {counter.label}: {text}",
            soft_wrap=True,
        )  # fmt: skip

    def point_skipped(self, point: Point, why: str) -> None:
        self._counter.start(point)
        self._line(why)

    def point_started(self, point: Point) -> None:
        self._counter.start(point)
        self._doing, self._left_s = "bringing up the bench", None

    def progress(self, progress: Progress) -> None:
        self._doing = doing(progress)
        self._left_s = self._counter.left_s(progress.left_s)

    def trial(self, trial: Trial) -> None: ...
    def run_ended(self, rates: str, number: int) -> None:
        self._doing = f"run {number}: {rates}"

    def run_failed(self, why: str) -> None: ...

    def point_complete(self, point: Point, result: SearchResult) -> None:  # noqa: ARG002
        took = seconds(self._counter.complete())
        left_s = self._counter.later_points_s()
        left = f", about {seconds(left_s)} left" if left_s else ""
        self._line(f"{short_sentence(result)} ({took}{left})")


class TrialLines(PointLines):
    """Print a line for each point and each trial."""

    def point_started(self, point: Point) -> None:
        super().point_started(point)
        self._line(self._doing)

    def trial(self, trial: Trial) -> None:
        self._line(
            f"{trial.stage} {mpps(trial.intended_load_fps)} Mpps for "
            f"{seconds(trial.duration_s)}: {trial_words(trial)}{self._left()}"
        )

    def run_ended(self, rates: str, number: int) -> None:
        super().run_ended(rates, number)
        self._line(self._doing)

    def run_failed(self, why: str) -> None:
        self._line(f"run failed: {why}")
