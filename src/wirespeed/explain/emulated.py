# SPDX-License-Identifier: Apache-2.0
"""Reject conclusions about speed where QEMU emulates the SUT's CPUs."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.interface import Measured
from wirespeed.model.result.explanation import Explanation, Proposal
from wirespeed.model.words import EMULATED


def emulated(point: Measured) -> Iterator[Explanation]:
    """Report the emulation; only frame counts and their order remain valid."""
    if point.result.emulated is None:
        return
    yield Explanation(
        "emulated",
        f"{EMULATED.capitalize()} ({point.result.emulated}). Where frames went holds.",
        (),
        Proposal("Measure on a host with KVM."),
    )
