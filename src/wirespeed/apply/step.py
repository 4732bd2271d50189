# SPDX-License-Identifier: Apache-2.0
"""What is one step of carrying out a plan, and what became of it?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.apply.setting import Setting, Value


@dataclass(frozen=True, slots=True)
class Step:
    """A setting, the value that the plan wants, and the decision that says so and why."""

    setting: Setting
    wanted: Value
    decision: str
    because: str


class State(StrEnum):
    """What a setting is, or what became of a step."""

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
        """Whether only a reboot makes it so."""
        return self is State.REBOOT


@dataclass(frozen=True, slots=True)
class Result:
    """A step's outcome. old, new: as shown to people. note: what is missing, or the exceptions."""

    name: str
    state: State
    decision: str
    because: str
    old: str
    new: str
    note: str = ""
    changed: bool = False

    @property
    def failed(self) -> bool:
        return self.state is State.DIFFERS
