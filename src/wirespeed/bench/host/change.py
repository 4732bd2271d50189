# SPDX-License-Identifier: Apache-2.0
"""What is a change to a host, which knows how it is undone?"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class Change(ABC):
    """One change; its fields are what JSON can hold."""

    @abstractmethod
    def __str__(self) -> str:
        """Say what stands while it is not undone: "2 huge pages of 1048576 KiB on node 0"."""

    @abstractmethod
    def undo(self, runner: Runner) -> str | None:
        """Undo it. Returns what was done, in one sentence, or None when nothing was left."""

    def relied_on(self, others: Iterable[Change]) -> bool:
        """Whether a living run, which made the changes `others`, needs this one to stand."""
        del others
        return False
