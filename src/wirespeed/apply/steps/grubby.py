# SPDX-License-Identifier: Apache-2.0
"""Set kernel words by grubby (RHEL, Fedora)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.apply.actions import COMMAND_S
from wirespeed.apply.setting import Value
from wirespeed.apply.steps.boot_loader import BootLoader, key_of, without_keys_of
from wirespeed.model.plan.plan import HostPlan
from wirespeed.plan.render import kernel
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class GrubbyArguments(BootLoader):
    """Arguments of every kernel that grubby knows; the value is one line."""

    @property
    def name(self) -> str:
        return "kernel command line (grubby)"

    def read(self, runner: Runner) -> Value:
        done = runner.run(["grubby", "--info=DEFAULT"])
        found = re.search(r'^args="(.*)"$', done.stdout, re.MULTILINE)
        return found[1].strip() if found else ""

    def with_words(self, runner: Runner, before: Value, host: HostPlan) -> str:
        del runner
        planned = kernel.command_line(host).split()
        return " ".join([*without_keys_of(planned, before or ""), *planned])

    def make(self, runner: Runner, value: Value) -> None:
        grubby = ["grubby", "--update-kernel=ALL"]
        now = (self.read(runner) or "").split()
        wanted = (value or "").split()
        begin = _first_changed(now, wanted)
        # Variables of GRUB stay in their place, e.g. $tuned_params.
        gone = [word for word in now[begin:] if "$" not in word]
        added = [word for word in wanted[begin:] if "$" not in word]
        if gone:
            runner.run([*grubby, f"--remove-args={' '.join(gone)}"], timeout_s=COMMAND_S)
        if added:
            runner.run([*grubby, f"--args={' '.join(added)}"], timeout_s=COMMAND_S)
        runner.run(["sync"], timeout_s=COMMAND_S)

    def left(self, runner: Runner, value: Value) -> tuple[str, ...]:
        found = self.read(runner) or ""
        return () if sorted(found.split()) == sorted((value or "").split()) else (found,)


def _first_changed(now: Sequence[str], wanted: Sequence[str]) -> int:
    """Return the index from which on words are removed and added again.

    No word before it has a parameter of one behind it: grubby replaces all words of a parameter.
    """
    pairs = enumerate(zip(now, wanted, strict=False))
    begin = next((n for n, (a, b) in pairs if a != b), min(len(now), len(wanted)))
    while True:
        keys = {key_of(word) for word in (*now[begin:], *wanted[begin:])}
        earlier = next((n for n, word in enumerate(now[:begin]) if key_of(word) in keys), None)
        if earlier is None:
            return begin
        begin = earlier
