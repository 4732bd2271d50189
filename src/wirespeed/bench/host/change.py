# SPDX-License-Identifier: Apache-2.0
"""Define a change to a host, which knows how to undo itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.model.errors import WirespeedError
from wirespeed.remote.interface import Runner


class ChangedSince(WirespeedError):
    """Raised where somebody else has changed a setting since: it is left as it is."""


@dataclass(frozen=True, slots=True)
class Change(ABC):
    """One change; its fields are JSON values."""

    @abstractmethod
    def __str__(self) -> str:
        """Describe what stands while the change is not undone.

        "2 huge pages of 1048576 KiB on node 0".
        """

    @abstractmethod
    def undo(self, runner: Runner) -> str | None:
        """Undo the change. Return what was done, as a sentence; None when nothing was left."""

    def relied_on(self, others: Iterable[Change]) -> bool:
        """Return whether a living run, which made the changes `others`, needs this one to stand."""
        del others
        return False
