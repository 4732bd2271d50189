# SPDX-License-Identifier: Apache-2.0
"""Show a running study as a table on a terminal."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table

from wirespeed.cli.console import Text
from wirespeed.cli.show.progress_words import Counter, doing
from wirespeed.measure.interface import Progress
from wirespeed.model.result.counted_time import counted_time
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.study import Point, Study
from wirespeed.model.words import mpps, seconds
from wirespeed.report.base.trial_words import trial_words
from wirespeed.report.text.sentence import short_sentence

SHOWN_TRIALS = 6


class LiveTable:
    """Table of complete points, current trial, last trials and time left, redrawn in place.

    It is redrawn only between trials: on a small machine, drawing takes CPU time from polling
    threads and adds noise to the trial.
    """

    def __init__(self, study: Study, run_id: str) -> None:
        self._counter = Counter(study)
        self._title = f"{run_id}  {study.title}"
        self._done: list[tuple[str, str]] = []
        self._trials: list[Trial] = []
        self._now = Text("")
        self._left_s: float | None = None
        self.redraw: Callable[[], None] = lambda: None

    def point_skipped(self, point: Point, why: str) -> None:
        self._counter.start(point)
        self._done.append((point.label, why))
        self.redraw()

    def point_started(self, point: Point) -> None:
        self._counter.start(point)
        self._trials = []
        self._left_s = None
        self._now = Text("bringing up the bench", style="dim")
        self.redraw()

    def progress(self, progress: Progress) -> None:
        self._now = Text(doing(progress))
        self._left_s = self._counter.left_s(progress.left_s)
        self.redraw()

    def trial(self, trial: Trial) -> None:
        self._trials = [*self._trials, trial][-SHOWN_TRIALS:]

    def run_ended(self, rates: str, number: int) -> None:
        self._now = Text(f"run {number}: {rates}")
        self.redraw()

    def run_failed(self, why: str) -> None:
        self._now = Text(f"run failed: {why}", style="yellow")
        self.redraw()

    def point_complete(self, point: Point, result: SearchResult) -> None:
        self._done.append(
            (point.label, f"{short_sentence(result)} ({seconds(self._counter.complete())})")
        )
        self.redraw()

    def render(self) -> RenderableType:
        counter = self._counter
        head = Table.grid(padding=(0, 2))
        left = ""
        if self._left_s is not None:
            left = f"about {seconds(self._left_s)} left"
        bar = ProgressBar(total=max(counter.total, 1), completed=len(self._done), width=24)
        head.add_row(bar, f"{len(self._done)} of {counter.total} points", Text(left, style="dim"))
        done = Table.grid(padding=(0, 2))
        for label, text in self._done:
            done.add_row(Text("\N{CHECK MARK}", style="green"), label, Text(text))
        now = Text.assemble(("\N{BLACK RIGHT-POINTING SMALL TRIANGLE} ", "cyan"),
                            (counter.label, "bold"), "  ", self._now)  # fmt: skip
        trials = Table.grid(padding=(0, 2))
        for trial in self._trials:
            counted = counted_time(trial)
            style = "yellow" if counted is None else "red" if counted.lost else "green"
            trials.add_row(
                "   ", Text(str(trial.stage), style="dim"),
                f"{mpps(trial.intended_load_fps)} Mpps", seconds(trial.duration_s),
                Text(trial_words(trial), style=style),
            )  # fmt: skip
        return Group(Text(self._title, style="bold"), head, done, now, trials)
