# SPDX-License-Identifier: Apache-2.0
"""Set files below /proc and /sys that a measurement has proven to help.

A plan names none of them: they are kept until a rollback. Interrupt numbers change from boot to
boot, so a file of an interrupt is written only while it belongs to the same handlers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from wirespeed.apply.actions import Action, Put
from wirespeed.apply.setting import Setting, Value
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import Runner
from wirespeed.sources.kernel_value import same_value, selected

_IRQ = "/proc/irq/"


@dataclass(frozen=True, slots=True)
class KernelFiles(Setting):
    """Kernel files that belong together. The value is a JSON object: path to content."""

    lost_at_reboot: ClassVar[bool] = True

    paths: tuple[str, ...]
    handlers: tuple[str, ...] = ()
    """Handlers of each file's interrupt, in the order of the paths; empty for other files."""

    @property
    def name(self) -> str:
        if len(self.paths) == 1 and not self.handlers:
            return self.paths[0]
        # The journal tells settings by their names. Two groups may begin with the same file, and
        # after a reboot an interrupt may belong to another device.
        key = hashlib.sha256("\n".join((*self.paths, *self.handlers)).encode()).hexdigest()[:8]
        more = f" and {len(self.paths) - 1} more files" if len(self.paths) > 1 else ""
        return f"{self.paths[0]}{more} ({key})"

    @property
    def of_interrupts(self) -> bool:
        """Return whether a reboot may give the files to other devices."""
        return bool(self.handlers)

    def read(self, runner: Runner) -> Value:
        return json.dumps(self._read(runner))

    def actions(self, value: Value) -> tuple[Action, ...]:
        texts: Mapping[str, str] = load_json(value or "{}")
        alone = len(texts) == 1
        return tuple(Put(path, text, may_fail=not alone) for path, text in texts.items())

    def make(self, runner: Runner, value: Value) -> None:
        now = self._read(runner)
        wanted: Mapping[str, str] = load_json(value or "{}")
        ours = {path: text for path, text in wanted.items() if path in now}
        # In a dataclass with slots, super() does not find its cell, so the base is named.
        Setting.make(self, runner, json.dumps(ours))

    def left(self, runner: Runner, value: Value) -> tuple[str, ...]:
        now = self._read(runner)
        wanted: Mapping[str, str] = load_json(value or "{}")
        return tuple(
            f"{path}: {now[path]}"
            for path, text in wanted.items()
            if path in now and not same_value(path, now[path], text)
        )

    def why_absent(self, runner: Runner) -> str | None:
        return None if self._read(runner) else "the kernel has no such file"

    def may_lack(self, value: Value) -> bool:
        del value
        return self.of_interrupts

    def excusable(self, runner: Runner, left: Sequence[str]) -> bool:
        """Return whether some interrupts moved: the kernel moves no managed or per-CPU one."""
        return self.of_interrupts and len(left) < len(self._read(runner))

    def shown(self, value: Value) -> str:
        texts: Mapping[str, str] = load_json(value or "{}")
        found = sorted(set(texts.values()))
        said = "; ".join(found[:3]) + ("; ..." if len(found) > 3 else "")
        return said if len(texts) == 1 else f"{said} ({len(texts)} files)"

    def _read(self, runner: Runner) -> dict[str, str]:
        """Return the content of the files that exist and still belong to their handlers."""
        owners = [handlers_file(path) for path in self.paths] if self.of_interrupts else []
        texts = runner.read_many([*self.paths, *owners])
        found = {}
        for at, path in enumerate(self.paths):
            text = texts[path]
            if not isinstance(text, str):
                continue
            owner = texts[owners[at]] if owners else ""
            if owners and (not isinstance(owner, str) or owner.strip() != self.handlers[at]):
                continue
            found[path] = selected(text)
        return found


def handlers_file(path: str) -> str:
    """Return the file with the handlers of an interrupt, whose file below /proc/irq is given."""
    return f"/sys/kernel/irq/{path.removeprefix(_IRQ).split('/')[0]}/actions"


def files_settings(
    runner: Runner, files: Mapping[str, str]
) -> tuple[tuple[KernelFiles, Mapping[str, str]], ...]:
    """Return the settings of these files, interrupts apart, with the content of each file."""
    irqs = [path for path in files if path.startswith(_IRQ)]
    others = tuple(path for path in files if path not in irqs)
    found = [(KernelFiles(others), {path: files[path] for path in others})] if others else []
    handlers = runner.read_many([handlers_file(path) for path in irqs])
    owned: dict[str, str] = {}
    for path in irqs:
        text = handlers[handlers_file(path)]
        # An interrupt without a handler does not occur.
        if isinstance(text, str) and text.strip():
            owned[path] = text.strip()
    if owned:
        setting = KernelFiles(tuple(owned), tuple(owned.values()))
        found.append((setting, {path: files[path] for path in owned}))
    return tuple(found)
