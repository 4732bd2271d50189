# SPDX-License-Identifier: Apache-2.0
"""Set kernel words in one line of /etc/default/grub, and make GRUB's menu anew (SLES, openSUSE).

The words between the quotes of GRUB_CMDLINE_LINUX_DEFAULT change; every other octet of the file
stays. grub-mkconfig puts them last on the kernel command line. It reads the file as a shell script,
so a line with expansions or escapes, whose value only a shell knows, is rejected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from wirespeed.apply.actions import COMMAND_S
from wirespeed.apply.durable import end_replacement, replace_file
from wirespeed.apply.setting import Value
from wirespeed.apply.steps.boot_loader import BootLoader, NoBootLoader, key_of, menu_has
from wirespeed.model.distribution import DEFAULTS, SUSE_MENU
from wirespeed.model.input.fault import show
from wirespeed.model.input.text import KERNEL_WORD
from wirespeed.model.plan.plan import HostPlan
from wirespeed.remote.interface import Runner

VARIABLE = "GRUB_CMDLINE_LINUX_DEFAULT"
_EVERY_BOOT = "GRUB_CMDLINE_LINUX"
# Between double quotes, a backslash at the end of a line continues it.
_PLAIN = r"""(?:"(?P<double>(?:[^"$`\\\n]|\\\n)*)"|'(?P<single>[^'\n]*)')(?:[ \t]+#.*|[ \t]*)$"""

_ENTRIES = re.compile(r"""^[ \t]*GRUB_ENABLE_BLSCFG=["']?true""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GrubDefaults(BootLoader):
    """Words between the quotes of one line, and the menu that grub2-mkconfig made with it."""

    makes_more: ClassVar[bool] = True

    path: str = DEFAULTS
    menu: str = SUSE_MENU

    @property
    def name(self) -> str:
        return f"kernel command line ({self.path})"

    def read(self, runner: Runner) -> Value:
        """Return the text between the quotes. Raises NoBootLoader."""
        text = self._text(runner)
        begin, end = _place(text, VARIABLE, self.path)
        return text[begin:end]

    def with_words(self, runner: Runner, before: Value, host: HostPlan) -> str:
        """Return the text with the host's words at its end, and without others of their keys."""
        planned = [word.value for word in host.kernel]
        self._check(runner, planned)
        keys = {key_of(word) for word in planned}
        pieces = re.split(r"((?:[ \t]|\\\n)+)", before or "")
        # Pieces alternate: a word, and what separates it from the next.
        kept = [
            word + gap
            for word, gap in zip(pieces[::2], [*pieces[1::2], ""], strict=True)
            if key_of(word) not in keys
        ]
        text = "".join(kept)
        glue = "" if not text or text[-1] in " \t\n" else " "
        return f"{text}{glue}{' '.join(planned)}"

    def make(self, runner: Runner, value: Value) -> None:
        text = self._text(runner)
        begin, end = _place(text, VARIABLE, self.path)
        if text[begin:end] == value:
            end_replacement(runner, self.path)
        else:
            changed = f"{text[:begin]}{value or ''}{text[end:]}"
            # The quotes may be others than those that the value was between.
            _place(changed, VARIABLE, self.path)
            replace_file(runner, self.path, changed, same_mode=True)
        runner.run(["grub2-mkconfig", "-o", self.menu], timeout_s=COMMAND_S)
        runner.run(["sync"], timeout_s=COMMAND_S)

    def left(self, runner: Runner, value: Value) -> tuple[str, ...]:
        found = self.read(runner)
        if found != value:
            return (self.shown(found),)
        if menu_has(runner, self.menu, self.shown(value)):
            return ()
        return (f"{self.menu} was not made with it",)

    def shown(self, value: Value) -> str:
        return " ".join((value or "").replace("\\\n", " ").split())

    def _text(self, runner: Runner) -> str:
        try:
            return runner.read(self.path)
        except FileNotFoundError:
            raise NoBootLoader(
                f"{self.path} on {runner.name} does not exist",
                "Reinstall the package grub2, which has it.",
            ) from None

    def _check(self, runner: Runner, planned: list[str]) -> None:
        """Raise NoBootLoader where the line cannot hold the words, or they would contradict."""
        odd = [word for word in planned if not KERNEL_WORD.fits(word)]
        if odd:
            raise NoBootLoader(
                f"{show(odd[0])} is no word for {self.path}: must be {KERNEL_WORD.wanted}",
                "Set it by hand there, or take it out of the plan.",
            )
        text = self._text(runner)
        if _ENTRIES.search(text):
            raise NoBootLoader(
                f"{self.path} on {runner.name}: GRUB_ENABLE_BLSCFG=true, so each kernel has its "
                "words in /boot/loader/entries",
                "Install grubby, which sets them there.",
            )
        if not _assignments(text, _EVERY_BOOT):
            return
        begin, end = _place(text, _EVERY_BOOT, self.path)
        keys = {key_of(word) for word in planned}
        twice = [word for word in text[begin:end].split() if key_of(word) in keys]
        if twice:
            raise NoBootLoader(
                f"{self.path} on {runner.name}: {_EVERY_BOOT} has {' '.join(twice)}, which the "
                "planned words set, too",
                "Take it out of that line, and run the command again.",
            )


def _assignments(text: str, variable: str) -> list[re.Match[str]]:
    """Return each place that assigns the variable; not those in comments."""
    return list(re.finditer(rf"^[^#\n]*?\b{variable}\+?=", text, re.MULTILINE))


def _place(text: str, variable: str, path: str) -> tuple[int, int]:
    """Return begin and end of the text between the quotes. Raises NoBootLoader."""
    found = _assignments(text, variable)
    plain = re.compile(f"{variable}={_PLAIN}", re.MULTILINE)
    match = plain.match(text, found[0].start()) if len(found) == 1 else None
    if match is None:
        what = f"{len(found)} lines assign {variable}"
        if len(found) == 1:
            line = text[found[0].start() :].partition("\n")[0]
            what = f"{show(line)} is no plain quoted assignment"
        raise NoBootLoader(
            f"{path}: {what}",
            f'Write one line {variable}="..." there, without $, ` and escapes.',
        )
    group = "double" if match["double"] is not None else "single"
    return match.span(group)
