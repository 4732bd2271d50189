# SPDX-License-Identifier: Apache-2.0
"""Keep the host settings that a search has proven (`wirespeed tune --keep`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wirespeed.apply.keep import Kept, Proven, keep
from wirespeed.remote.reach import reach
from wirespeed.report.compare.tuned import KeptSetting, TunedReport, interval_words
from wirespeed.tune.factor import Factor


def kept(found: TunedReport, factors: Sequence[Factor], address: str) -> TunedReport:
    """Apply the proven settings of the host, and return the report with the result.

    Study keys are not settings of the host: they are in the file of settings. Raises WirespeedError
    where the host must not be changed.
    """
    claimed = [each for each in factors if each.name in found.claimed and each.host]
    if not claimed or found.ratio is None:
        return replace(found, kept=())
    because = (
        f"proven by run {found.run_id}: {interval_words(found.ratio)} more {found.goal} together "
        "with all settings that it names"
    )
    proven = [Proven(each.name, each.host, because) for each in claimed]
    return replace(found, kept=tuple(_settings(keep(reach, address, proven))))


def _settings(done: Kept) -> list[KeptSetting]:
    return [
        KeptSetting(
            result.name, result.decision, str(result.state), result.old, result.new, result.note,
            result.name in done.until_reboot,
        )
        for result in done.results
    ]  # fmt: skip


def failed(found: TunedReport) -> bool:
    """Return whether a setting could not be kept."""
    return any(each.state == "differs" for each in found.kept or ())
