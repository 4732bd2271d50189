# SPDX-License-Identifier: Apache-2.0
"""Write a configuration file of the host: its whole text, or no file."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import ClassVar

from wirespeed.apply.actions import Action
from wirespeed.apply.durable import read_text, remove_file, replace_file
from wirespeed.apply.setting import Setting, Value
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class TextFile(Setting):
    """A file that survives a power loss as a whole: the old or the new text."""

    # Setting it also removes the rest of an interrupted replacement.
    makes_more: ClassVar[bool] = True

    path: str

    @property
    def name(self) -> str:
        return f"file {self.path}"

    def read(self, runner: Runner) -> Value:
        return read_text(runner, self.path)

    def actions(self, value: Value) -> tuple[Action, ...]:
        raise AssertionError(f"{self.path} keeps its text: nothing to do at boot ({value!r})")

    def make(self, runner: Runner, value: Value) -> None:
        if value is None:
            remove_file(runner, self.path)
            return
        folder = posixpath.dirname(self.path)
        if not runner.glob(folder):
            runner.run(["mkdir", "-p", folder])
            runner.run(["sync", posixpath.dirname(folder)])
        replace_file(runner, self.path, value)

    def shown(self, value: Value) -> str:
        if value is None:
            return "absent"
        return f"{len(value.splitlines())} lines"
