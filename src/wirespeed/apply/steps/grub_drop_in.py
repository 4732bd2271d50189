# SPDX-License-Identifier: Apache-2.0
"""Set kernel words by a drop-in of GRUB's settings and update-grub (Debian, Ubuntu)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from wirespeed.apply.actions import COMMAND_S
from wirespeed.apply.durable import read_text, remove_file, replace_file
from wirespeed.apply.setting import Value
from wirespeed.apply.steps.boot_loader import BootLoader, menu_has
from wirespeed.model.distribution import DROP_INS
from wirespeed.model.plan.plan import HostPlan
from wirespeed.plan.render import kernel
from wirespeed.remote.interface import Runner

DROP_IN = f"{DROP_INS}/{kernel.DROP_IN}"
MENU = "/boot/grub/grub.cfg"
# One word has no quotes.
_LINE = re.compile(r"""^GRUB_CMDLINE_LINUX="\$\(.*\)"('?)(.*)\1$""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GrubDropIn(BootLoader):
    """Drop-in file in /etc/default/grub.d, and the menu that update-grub made with it."""

    makes_more: ClassVar[bool] = True

    path: str = DROP_IN

    @property
    def name(self) -> str:
        return "kernel command line (GRUB)"

    def read(self, runner: Runner) -> Value:
        return read_text(runner, self.path)

    def with_words(self, runner: Runner, before: Value, host: HostPlan) -> str:
        """Return a drop-in of the host's words alone: it is written whole."""
        del runner, before
        return kernel.drop_in(host)

    def make(self, runner: Runner, value: Value) -> None:
        if value is None:
            remove_file(runner, self.path)
        else:
            runner.run(["mkdir", "-p", DROP_INS])
            replace_file(runner, self.path, value)
        runner.run(["update-grub"], timeout_s=COMMAND_S)
        runner.run(["sync"], timeout_s=COMMAND_S)

    def left(self, runner: Runner, value: Value) -> tuple[str, ...]:
        found = self.read(runner)
        if found != value:
            return (self.shown(found),)
        # The menu does not show whether a word came from a removed file: see `makes_more`.
        agrees = value is None or menu_has(runner, MENU, line_of(value))
        return () if agrees else (f"{MENU} was not made with it",)

    def shown(self, value: Value) -> str:
        return "absent" if value is None else line_of(value)


def line_of(drop_in: str) -> str:
    """Return the words that a drop-in adds."""
    found = _LINE.search(drop_in)
    return found[2] if found else drop_in.strip()
