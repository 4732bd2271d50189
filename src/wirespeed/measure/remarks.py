# SPDX-License-Identifier: Apache-2.0
"""Explain rates of one point that seem to contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.model.result.result import AsIs
from wirespeed.model.words import mpps, seconds


def remarks(
    least_fps: float | None,
    width: float,
    mrr_fps: float | None,
    mrr_error: float | None,
    as_is: AsIs,
) -> Iterator[str]:
    """Yield a sentence for each pair of rates with an unexpected order; rates in frames/s.

    least_fps: the NDR, or the lower end of a bracket.
    """
    if least_fps is None:
        return
    if mrr_fps is not None and mrr_fps * (1 + (mrr_error or 0.0)) < least_fps * (1 - width):
        found = (
            f"it received {mpps(mrr_fps)} Mpps of an overload and carries {mpps(least_fps)} Mpps"
        )
        if mrr_error is None:
            yield f"an overload may slow the SUT down: {found}; the MRR's error is not known"
        else:
            yield f"an overload slows the SUT down: {found}"
    if as_is.lossless_fps is not None and as_is.lossless_fps > least_fps * (1 + width):
        length = f" of {seconds(as_is.lossless_s)}" if as_is.lossless_s else ""
        yield (
            f"one trial{length} at {mpps(as_is.lossless_fps)} Mpps lost nothing, but all trials "
            f"there together do not pass: the NDR is lower"
        )
