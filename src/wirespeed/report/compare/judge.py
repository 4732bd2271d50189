# SPDX-License-Identifier: Apache-2.0
"""Judge a relative change by its error and a tolerance. Pure."""

from __future__ import annotations

from wirespeed.report.compare.comparison import Judgement


def judge(gain: float, error: float | None, tolerance: float) -> Judgement:
    """Count a change that exceeds both the tolerance and the error; positive is better.

    A change is undecided where its error exceeds the tolerance and covers it.
    """
    if error is None:
        return Judgement.CANNOT_TELL
    if abs(gain) <= error:
        return Judgement.SAME if error <= tolerance else Judgement.CANNOT_TELL
    if abs(gain) > tolerance:
        return Judgement.BETTER if gain > 0 else Judgement.WORSE
    return Judgement.BETTER_WITHIN_TOLERANCE if gain > 0 else Judgement.WITHIN_TOLERANCE
