# SPDX-License-Identifier: Apache-2.0
"""Describe where a bench on one host is opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wirespeed.bench.guest.interface import Guests
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class Site:
    """A host for a bench, with the folder of its logs."""

    runner: Runner
    logs: Path
    guests: Guests | None = None
    """Images and settings of the plan's virtual machines; None without any."""
