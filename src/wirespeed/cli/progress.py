# SPDX-License-Identifier: Apache-2.0
"""Show progress while a study runs: a live table, or one line for each point.

Everything goes to stderr: stdout is for results.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from wirespeed.cli.console import Text, plain_console
from wirespeed.explain.trial import counted_time
from wirespeed.measure.interface import UNLIMITED, Progress
from wirespeed.model.result import SearchResult
from wirespeed.model.study import Point, Study
from wirespeed.model.tcp import TcpRun
from wirespeed.model.trial import Trial
from wirespeed.model.words import gbps, mpps, seconds
from wirespeed.report.sentence import short_sentence
from wirespeed.report.trial_words import trial_words
from wirespeed.study.interface import Watcher

SHOWN_TRIALS = 6


@contextmanager
def watching(study: Study, run_id: str, *, verbose: bool = False) -> Iterator[Watcher]:
    """Yield a table on a terminal, else lines.

    verbose: always lines, also one for each trial.
    """
    console = plain_console(stderr=True)
    if verbose or not console.is_terminal:
        yield TrialLines(study, console) if verbose else PointLines(study, console)
        return
    display = LiveTable(study, run_id)
    with Live(
        console=console, get_renderable=display.render, auto_refresh=False, transient=True
    ) as live:
        display.redraw = live.refresh
        yield display


class _Counter:
    """Counts points, and estimates the time of the remaining ones."""

    def __init__(self, study: Study) -> None:
        self.total = len(study.points)
        self.number = 0
        self.label = ""
        self._measured = 0
        self._measuring_s = 0.0
        self._started = time.monotonic()

    def start(self, point: Point) -> None:
        self.number += 1
        self.label = point.label
        self._started = time.monotonic()

    def complete(self) -> float:
        """Count a point; return how long it took, in s."""
        took_s = time.monotonic() - self._started
        self._measured += 1
        self._measuring_s += took_s
        return took_s

    def left_s(self, of_point_s: float | None) -> float | None:
        """Return the time left in s: of this point, plus the mean for each later one."""
        if of_point_s is None:
            return None
        after = self.total - self.number
        if not self._measured:
            elapsed_s = time.monotonic() - self._started
            return of_point_s + after * (elapsed_s + of_point_s)
        return of_point_s + after * self._measuring_s / self._measured

    def later_points_s(self) -> float:
        """Return the estimated time of points that have not begun, in s."""
        mean_s = self._measuring_s / self._measured if self._measured else 0.0
        return (self.total - self.number) * mean_s


def _rates(run: TcpRun) -> str:
    directions = dict.fromkeys(result.direction for result in run.directions)
    return ", ".join(f"{d} {gbps(run.rate_bps(d))} Gbps" for d in directions)


class PointLines:
    """One line for each point, for logs and pipes: its rates and their grade."""

    def __init__(self, study: Study, console: Console) -> None:
        self._counter = _Counter(study)
        self._console = console

    def _line(self, text: str) -> None:
        counter = self._counter
        self._console.print(
            f"[{counter.number}/{counter.total}] {counter.label}: {text}",
            soft_wrap=True,
        )  # fmt: skip

    def point_skipped(self, point: Point, why: str) -> None:
        self._counter.start(point)
        self._line(why)

    def point_started(self, point: Point) -> None:
        self._counter.start(point)

    def progress(self, progress: Progress) -> None: ...
    def trial(self, trial: Trial) -> None: ...
    def tcp_run(self, run: TcpRun, number: int) -> None: ...
    def tcp_discarded(self, why: str) -> None: ...

    def point_complete(self, point: Point, result: SearchResult) -> None:  # noqa: ARG002
        took = seconds(self._counter.complete())
        left_s = self._counter.later_points_s()
        left = f", about {seconds(left_s)} left" if left_s else ""
        self._line(f"{short_sentence(result)} ({took}{left})")


class TrialLines(PointLines):
    """One line for each point and each trial."""

    def __init__(self, study: Study, console: Console) -> None:
        super().__init__(study, console)
        self._left_s: float | None = None

    def point_started(self, point: Point) -> None:
        super().point_started(point)
        self._line("bringing up the bench")

    def progress(self, progress: Progress) -> None:
        self._left_s = self._counter.left_s(progress.left_s)

    def trial(self, trial: Trial) -> None:
        left = "" if self._left_s is None else f", about {seconds(self._left_s)} left"
        self._line(
            f"{trial.stage} {mpps(trial.intended_load_fps)} Mpps for "
            f"{seconds(trial.duration_s)}: {trial_words(trial)}{left}"
        )

    def tcp_run(self, run: TcpRun, number: int) -> None:
        self._line(f"run {number}: {_rates(run)}")

    def tcp_discarded(self, why: str) -> None:
        self._line(f"run failed: {why}")


class LiveTable:
    """Table of complete points, current trial, last trials and time left, redrawn in place.

    It is redrawn only between trials: on a small machine, drawing takes CPU time from polling
    threads and adds noise to the trial.
    """

    def __init__(self, study: Study, run_id: str) -> None:
        self._counter = _Counter(study)
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
        limited = progress.load_fps < UNLIMITED
        load = f"{mpps(progress.load_fps)} Mpps" if limited else "as much as possible"
        again = f", attempt {progress.attempt}" if progress.attempt > 1 else ""
        self._now = Text(f"{progress.stage}: {load} for {seconds(progress.duration_s)}{again}")
        self._left_s = self._counter.left_s(progress.left_s)
        self.redraw()

    def trial(self, trial: Trial) -> None:
        self._trials = [*self._trials, trial][-SHOWN_TRIALS:]

    def tcp_run(self, run: TcpRun, number: int) -> None:
        self._now = Text(f"run {number}: {_rates(run)}")
        self.redraw()

    def tcp_discarded(self, why: str) -> None:
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
