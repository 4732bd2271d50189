# SPDX-License-Identifier: Apache-2.0
"""Define one step of carrying out a plan, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.apply.setting import Setting, Value


@dataclass(frozen=True, slots=True)
class Step:
    """A setting, its planned value, and the decision behind it with its reason."""

    setting: Setting
    wanted: Value
    decision: str
    because: str


class State(StrEnum):
    """State of a setting, or result of a step."""

    SO = "already so"
    CHANGE = "to change"
    DONE = "done"
    PARTLY = "with exceptions"
    REBOOT = "needs a reboot"
    ABSENT = "not here"
    DIFFERS = "differs"

    @property
    def is_so(self) -> bool:
        return self in (State.SO, State.DONE, State.PARTLY)

    @property
    def waits(self) -> bool:
        """True if only a reboot completes it."""
        return self is State.REBOOT


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a step."""

    name: str
    state: State
    decision: str
    because: str
    old: str
    new: str
    """New value, as printed; so is `old`."""
    note: str = ""
    """Missing parts, or the exceptions."""
    changed: bool = False

    @property
    def failed(self) -> bool:
        return self.state is State.DIFFERS
