# SPDX-License-Identifier: Apache-2.0
"""Say what a comparison in turns concluded."""

from __future__ import annotations

from wirespeed.experiment.turns import FEWEST_PAIRS, Answer, Compared, Stop
from wirespeed.model.words import counted, percent
from wirespeed.report.compare.tuned import interval_words


def answer_words(a: str, b: str, goal: str, stop: Stop, found: Compared) -> str:
    """E.g. "B brings 4.1% more mrr than A: +4.1% (+1.0% to +7.3%), 8 pairs"."""
    if not found.ratio.pairs:
        return (
            f"Cannot tell whether {a} and {b} differ: an answer needs {FEWEST_PAIRS} pairs at "
            "least. More pairs decide it: --pairs."
        )
    by = f"{interval_words(found.ratio)}, {counted(found.ratio.pairs, 'pair')}"
    sure = f"{percent(1 - stop.error, 0)} confidence at any stop"
    said = {
        Answer.MORE: f"{b} brings more {goal} than {a}: {by}, {sure}.",
        Answer.LESS: f"{b} brings less {goal} than {a}: {by}, {sure}.",
        Answer.SAME: f"{a} and {b} differ by less than {percent(stop.worth)}: {by}, {sure}.",
        Answer.UNDECIDED: (
            f"Cannot tell whether {a} and {b} differ: {by}. More pairs decide it: --pairs."
        ),
    }
    return said[found.answer]
