# SPDX-License-Identifier: Apache-2.0
"""Read a threshold as it is typed: LABEL: METRIC COMPARISON VALUE."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence

from wirespeed.model.errors import BadInput
from wirespeed.model.result.result import Grade
from wirespeed.model.words import EMULATED
from wirespeed.report.views.thresholds import COMPARISONS, EVERY_POINT, Metric, Threshold

_EXAMPLE = 'E.g. --threshold "p2p, 64 B: ndr >= 5e6", in frames/s; * for every point.'
_WORD = re.compile("[A-Za-z0-9]+")
_COMPARISON = re.compile("|".join(map(re.escape, COMPARISONS)))
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_GRADE = re.compile("[ABCD]")
# Every rate and latency with at least a D: nothing that could fail.
_GRADES = (Grade.A, Grade.B, Grade.C)


def read_thresholds(texts: Iterable[str]) -> tuple[Threshold, ...]:
    """Raise BadInput for the first that cannot be read, with the column where reading stopped."""
    return tuple(_Reader(text).threshold() for text in texts)


def check_labels(thresholds: Sequence[Threshold], labels: Sequence[str], where: str) -> None:
    """Raise BadInput for a threshold of a point that is not among these labels of `where`."""
    for threshold in thresholds:
        if not threshold.names(*labels):
            near = difflib.get_close_matches(threshold.label, labels, n=1)
            hint = f'Did you mean "{near[0]}"? ' if near else ""
            known = ", ".join(f'"{label}"' for label in dict.fromkeys(labels))
            raise BadInput(
                f'--threshold "{threshold}": {where} has no point "{threshold.label}"',
                f"{hint}It has {known}; {EVERY_POINT} names all.",
            )


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def threshold(self) -> Threshold:
        label = self._label()
        asked = " ".join(self._text[self._at :].split())
        metric = self._metric()
        comparison = self._take(_COMPARISON, f"one of {', '.join(COMPARISONS)}")
        limit = self._grade(comparison) if metric is Metric.GRADE else self._number()
        self._skip_spaces()
        if self._at < len(self._text):
            raise self._stopped("the end")
        return Threshold(label, metric, comparison, limit, asked)

    def _label(self) -> str:
        """Return what is before the last colon, without a caption's remark on emulation."""
        label, colon, _ = self._text.rpartition(":")
        if not colon:
            self._at = len(self._text)
            raise self._stopped('":" after the label of a point')
        if not label.strip():
            raise self._stopped("the label of a point")
        self._at = len(label) + 1
        return " ".join(label.split()).removesuffix(f" ({EMULATED})")

    def _metric(self) -> Metric:
        start = self._at
        metrics = f"one of {', '.join(Metric)}"
        word = self._take(_WORD, metrics).lower()
        if word not in set(Metric):
            self._at = start
            self._skip_spaces()
            raise self._stopped(metrics)
        return Metric(word)

    def _number(self) -> float:
        start = self._at
        number = float(self._take(_NUMBER, "a number, e.g. 5e6"))
        if not 0 < number < math.inf:
            self._at = start
            self._skip_spaces()
            raise self._stopped("a number above 0 that can be counted with")
        return number

    def _grade(self, comparison: str) -> Grade:
        if comparison != ">=":
            self._at -= len(comparison)
            raise self._stopped(">=: that grade or a better one")
        start = self._at
        grade = Grade(self._take(_GRADE, "A, B or C"))
        if grade not in _GRADES:
            self._at = start
            self._skip_spaces()
            raise self._stopped("A, B or C: every rate has at least a D")
        return grade

    def _take(self, pattern: re.Pattern[str], wanted: str) -> str:
        self._skip_spaces()
        found = pattern.match(self._text, self._at)
        if found is None:
            raise self._stopped(wanted)
        self._at = found.end()
        return found[0]

    def _skip_spaces(self) -> None:
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1

    def _stopped(self, wanted: str) -> BadInput:
        return BadInput(
            f'--threshold "{self._text}": column {self._at + 1}: must be {wanted}', _EXAMPLE
        )
