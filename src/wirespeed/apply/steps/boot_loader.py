# SPDX-License-Identifier: Apache-2.0
"""Define the setting of a boot loader: the words that it adds to the kernel command line."""

from __future__ import annotations

import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.apply.actions import Action
from wirespeed.apply.durable import read_text
from wirespeed.apply.setting import Setting, Value
from wirespeed.model.errors import WirespeedError
from wirespeed.model.plan.plan import HostPlan
from wirespeed.remote.interface import Runner


class NoBootLoader(WirespeedError):
    """Raised when wirespeed cannot set the host's boot loader."""


@dataclass(frozen=True, slots=True)
class BootLoader(Setting, ABC):
    """Words of the next boot's kernel command line."""

    def actions(self, value: Value) -> tuple[Action, ...]:
        raise AssertionError(f"the boot loader keeps its words ({value!r})")

    @abstractmethod
    def with_words(self, runner: Runner, before: Value, host: HostPlan) -> str:
        """Return the value that adds the host's kernel words to the value before.

        Raises NoBootLoader where the boot loader cannot hold them.
        """


def key_of(word: str) -> str:
    return word.partition("=")[0]


def without_keys_of(words: Sequence[str], line: str) -> list[str]:
    """Return the words of the line whose parameters `words` does not set."""
    keys = {key_of(word) for word in words}
    return [word for word in line.split() if key_of(word) not in keys]


def menu_has(runner: Runner, menu: str, words: str) -> bool:
    """Return whether an entry of GRUB's menu has these words, one after the other."""
    text = read_text(runner, menu) or ""
    entries = [line for line in text.splitlines() if re.match(r"\s*linux(16|efi)?\s", line)]
    return any(f" {words}" in _unquoted(entry) for entry in entries)


def _unquoted(entry: str) -> str:
    try:
        return " ".join(shlex.split(entry))
    except ValueError:
        return entry
