# SPDX-License-Identifier: Apache-2.0
"""Set the words of the kernel command line in the boot loader: GRUB's drop-in or grubby.

`missing_words` compares the plan with the command line of the running kernel.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from wirespeed.apply.actions import COMMAND_S, Action
from wirespeed.apply.durable import read_text, remove_file, replace_file
from wirespeed.apply.setting import Setting, Value
from wirespeed.apply.step import Step
from wirespeed.model.errors import WirespeedError
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.plan.render import kernel
from wirespeed.remote.interface import Runner

DROP_IN = f"/etc/default/grub.d/{kernel.DROP_IN}"
MENU = "/boot/grub/grub.cfg"
_UPDATE_GRUB = ("/usr/sbin/update-grub", "/sbin/update-grub")
_GRUBBY = ("/usr/sbin/grubby", "/sbin/grubby")
_LINE = re.compile(r"""^GRUB_CMDLINE_LINUX="\$\(.*\)"'(.*)'$""", re.MULTILINE)
_PAGES = ("hugepagesz", "hugepages", "default_hugepagesz")


class NoBootLoader(WirespeedError):
    """Raised when wirespeed cannot set the host's boot loader."""


@dataclass(frozen=True, slots=True)
class GrubDropIn(Setting):
    """Drop-in file in /etc/default/grub.d, and the menu that update-grub made with it."""

    makes_more: ClassVar[bool] = True

    path: str = DROP_IN

    @property
    def name(self) -> str:
        return "kernel command line (GRUB)"

    def read(self, runner: Runner) -> Value:
        return read_text(runner, self.path)

    def actions(self, value: Value) -> tuple[Action, ...]:
        raise AssertionError(f"the boot loader keeps its words ({value!r})")

    def make(self, runner: Runner, value: Value) -> None:
        if value is None:
            remove_file(runner, self.path)
        else:
            runner.run(["mkdir", "-p", "/etc/default/grub.d"])
            replace_file(runner, self.path, value)
        runner.run(["update-grub"], timeout_s=COMMAND_S)
        runner.run(["sync"], timeout_s=COMMAND_S)

    def left(self, runner: Runner, value: Value) -> tuple[str, ...]:
        found = self.read(runner)
        if found != value:
            return (self.shown(found),)
        return () if _menu_agrees(runner, value) else (f"{MENU} was not made with it",)

    def shown(self, value: Value) -> str:
        return "absent" if value is None else line_of(value)


@dataclass(frozen=True, slots=True)
class GrubbyArguments(Setting):
    """Arguments of every kernel that grubby knows; the value is one line."""

    @property
    def name(self) -> str:
        return "kernel command line (grubby)"

    def read(self, runner: Runner) -> Value:
        done = runner.run(["grubby", "--info=DEFAULT"])
        found = re.search(r'^args="(.*)"$', done.stdout, re.MULTILINE)
        return found[1].strip() if found else ""

    def actions(self, value: Value) -> tuple[Action, ...]:
        raise AssertionError(f"the boot loader keeps its words ({value!r})")

    def make(self, runner: Runner, value: Value) -> None:
        grubby = ["grubby", "--update-kernel=ALL"]
        now = (self.read(runner) or "").split()
        wanted = (value or "").split()
        # Words that may repeat are all set again; of the others, only unwanted words are removed.
        gone = [*_PAGES, *(word for word in now if word not in wanted)]
        runner.run([*grubby, f"--remove-args={' '.join(gone)}"], timeout_s=COMMAND_S)
        if wanted:
            runner.run([*grubby, f"--args={' '.join(wanted)}"], timeout_s=COMMAND_S)
        runner.run(["sync"], timeout_s=COMMAND_S)

    def left(self, runner: Runner, value: Value) -> tuple[str, ...]:
        found = self.read(runner) or ""
        return () if sorted(found.split()) == sorted((value or "").split()) else (found,)


def kernel_steps(plan: Plan, host: HostPlan, runner: Runner) -> list[Step]:
    """Return one step for the whole command line. Raises NoBootLoader."""
    if not host.kernel:
        return []
    because = "; ".join(f"{word.value}: {word.because}" for word in host.kernel)
    setting = boot_loader(runner)
    if isinstance(setting, GrubDropIn):
        text = kernel.render(plan)[f"kernel/{host.host}/{kernel.DROP_IN}"]
        return [Step(setting, text, "kernel", because)]
    planned = kernel.command_line(host).split()
    kept = without_keys_of(planned, setting.read(runner) or "")
    return [Step(setting, " ".join([*kept, *planned]), "kernel", because)]


def boot_loader(runner: Runner) -> GrubDropIn | GrubbyArguments:
    """Return the setting of the host's boot loader. Raises NoBootLoader."""
    if runner.glob(*_UPDATE_GRUB):
        return GrubDropIn()
    if runner.glob(*_GRUBBY):
        return GrubbyArguments()
    raise NoBootLoader(
        "the kernel command line cannot be set: the host has neither update-grub nor grubby",
        "Set it by the host's own means (`wirespeed plan render --to kernel` writes it).",
    )


def without_keys_of(words: Sequence[str], line: str) -> list[str]:
    """Return the words of the line whose parameters `words` does not set."""
    keys = {_key(word) for word in words}
    return [word for word in line.split() if _key(word) not in keys]


def missing_words(host: HostPlan, cmdline: str) -> tuple[str, ...]:
    """Return the planned words that this kernel command line lacks, in planned order."""
    have = _pairs(cmdline.split())
    return tuple(
        word for word, pair in zip((w.value for w in host.kernel), _pairs([w.value for w in
        host.kernel]), strict=True) if pair not in have
    )  # fmt: skip


def line_of(drop_in: str) -> str:
    """Return the words that a drop-in adds."""
    found = _LINE.search(drop_in)
    return found[1] if found else drop_in.strip()


def _menu_agrees(runner: Runner, value: Value) -> bool:
    """Return whether GRUB's menu has the drop-in's words."""
    if value is None:
        # The menu does not show whether a word came from a removed file: see `makes_more`.
        return True
    menu = read_text(runner, MENU) or ""
    entries = [line for line in menu.splitlines() if re.match(r"\s*linux(16|efi)?\s", line)]
    return any(f" {line_of(value)}" in _unquoted(entry) for entry in entries)


def _unquoted(entry: str) -> str:
    try:
        return " ".join(shlex.split(entry))
    except ValueError:
        return entry


def _key(word: str) -> str:
    return word.partition("=")[0]


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return each word, with the page size that it belongs to where it is a count of pages."""
    size, found = "", []
    for word in words:
        if _key(word) == "hugepagesz":
            size = word
        found.append((size if _key(word) == "hugepages" else "", word))
    return found
