# SPDX-License-Identifier: Apache-2.0
"""Say how far a study is, and what it does now."""

from __future__ import annotations

import time

from wirespeed.measure.interface import UNLIMITED, Progress
from wirespeed.model.study.study import Point, Study
from wirespeed.model.words import mpps, seconds


class Counter:
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
        took_s = self.elapsed_s()
        self._measured += 1
        self._measuring_s += took_s
        return took_s

    def elapsed_s(self) -> float:
        """Return the time since the point began, in s."""
        return time.monotonic() - self._started

    def left_s(self, of_point_s: float | None) -> float | None:
        """Return the time left in s: of this point, plus the mean for each later one."""
        if of_point_s is None:
            return None
        after = self.total - self.number
        if not self._measured:
            return of_point_s + after * (self.elapsed_s() + of_point_s)
        return of_point_s + after * self._measuring_s / self._measured

    def later_points_s(self) -> float:
        """Return the estimated time of points that have not begun, in s."""
        mean_s = self._measuring_s / self._measured if self._measured else 0.0
        return (self.total - self.number) * mean_s


def doing(progress: Progress) -> str:
    limited = progress.load_fps < UNLIMITED
    load = f"{mpps(progress.load_fps)} Mpps" if limited else "as much as possible"
    again = f", attempt {progress.attempt}" if progress.attempt > 1 else ""
    return f"{progress.stage}: {load} for {seconds(progress.duration_s)}{again}"
