# SPDX-License-Identifier: Apache-2.0
"""Decide whether the trials at a load prove that it is the NDR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from wirespeed.measure.gate import Mask
from wirespeed.measure.noise_fit import loss_fit
from wirespeed.measure.placebo import noise_explains
from wirespeed.measure.verdict import NDR_LOSS_LIMIT, Verdict, verdict
from wirespeed.model.result.evidence import Windows
from wirespeed.model.result.series import COUNTED
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.rfc2544 import FINAL_S, PAUSE_S, RESIDUAL_S
from wirespeed.model.words import percent

NOT_NOISE: Final = (
    "the excluded time lost no more than any other time: noise does not explain the loss, so whole "
    "trials count"
)
NOT_SHOWN: Final = (
    "every trial at that load lost frames, and noise is not shown to explain it: whole trials count"
)


def refuted(deciding: Sequence[Trial], width: float, pdr_loss: float) -> str | None:
    """Return why the load of these trials is no NDR; None where it stands as one.

    It stands if it passes by all its trials together and noise explains what whole trials lost. The
    second condition is checked where every trial lost frames.
    """
    pieces = [trial.gated for trial in deciding if trial.gated is not None]
    found = verdict(pieces, width, pdr_loss)
    if not found.stands:
        return _fails(found)
    explained = noise_explains_loss(deciding)
    if explained is False:
        return NOT_NOISE
    if all(trial.lost for trial in deciding) and not (explained and _through_zero(deciding)):
        return NOT_SHOWN
    return None


def conforming(deciding: Sequence[Trial]) -> bool:
    """Return whether the deciding trials kept length and waits of RFC 2544, sections 23 and 24.

    Shorter trials only narrowed the search down.
    """
    final = [trial.observation for trial in deciding if trial.duration_s >= FINAL_S]
    return bool(final) and all(
        seen.residual_wait_s >= RESIDUAL_S and seen.pause_s >= PAUSE_S for seen in final
    )


def noise_explains_loss(deciding: Sequence[Trial]) -> bool | None:
    """Run the placebo test (placebo.py) over the trials that lost frames in all their time."""
    return noise_explains(_lossy(deciding))


def _through_zero(deciding: Sequence[Trial]) -> bool:
    """Return whether time without exclusions loses nothing (noise_fit.py)."""
    fit = loss_fit(_lossy(deciding))
    return fit is not None and fit.through_zero


def _lossy(deciding: Sequence[Trial]) -> list[tuple[Windows, Mask]]:
    """Return the trials that lost frames, with the windows that count."""
    pairs = []
    for trial in deciding:
        counted = next((s.values for s in trial.series if s.name == COUNTED), None)
        if trial.lost and counted is not None and trial.observation.windows is not None:
            clean = tuple(value > 0 for value in counted)
            pairs.append((trial.observation.windows, Mask(clean, clean, ())))
    return pairs


def _fails(found: Verdict) -> str:
    if not found.decided:
        return "all trials at that load together leave too little clean time to judge it"
    if found.loss > NDR_LOSS_LIMIT:
        return (
            f"all trials at that load together lost {found.lost:,} of {found.offered:,} frames in "
            f"time that counts, more than {percent(NDR_LOSS_LIMIT, 2)}"
        )
    return f"in all trials at that load together queues grew by {percent(found.growth, 2)}"
