# SPDX-License-Identifier: Apache-2.0
"""What if a change cuts the connection by which it is made? Then the host undoes it by itself.

Before such changes the host gets a script that undoes them and a timer (systemd-run) that runs it;
whoever still reaches the host afterwards stops the timer. The script waits for the lock that an
apply holds: one that lives is never interfered with, however slow it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from wirespeed.apply.actions import Action, script
from wirespeed.apply.durable import replace_file
from wirespeed.apply.journal import FOLDER, LOCK
from wirespeed.apply.setting import Setting, Value
from wirespeed.remote.interface import Runner

UNIT = "wirespeed-apply-checkpoint"
SCRIPT = f"{FOLDER}/checkpoint.sh"
# Exists once the timer has run the script.
FIRED = f"{FOLDER}/checkpoint-fired"
WAIT_S = 120


class Checkpoint:
    """The timer of one host."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @contextmanager
    def guarding(self, changes: Sequence[tuple[Setting, Value]]) -> Iterator[None]:
        """While in the body these settings may change; they are as given.

        Left by an error, the timer goes on: the connection may be what failed.
        """
        if not changes:
            yield
            return
        self._arm(changes)
        yield
        self.confirm()

    def confirm(self) -> bool:
        """Stop the timer: the host is reached. Returns whether it has undone changes before."""
        # Reported as failed where there is none.
        self._runner.run(["systemctl", "stop", f"{UNIT}.timer", f"{UNIT}.service"], check=False)
        fired = bool(self._runner.glob(FIRED))
        if fired:
            self._runner.run(["rm", "-f", FIRED])
        return fired

    def _arm(self, changes: Sequence[tuple[Setting, Value]]) -> None:
        undo: list[Action] = []
        for setting, value in reversed(changes):
            undo += setting.actions(value)
        text = script("Undoes what `wirespeed apply` changed and nobody confirmed.", undo)
        replace_file(self._runner, SCRIPT, text)
        command = f"exec 9>{LOCK}; flock 9; : >{FIRED}; sh {SCRIPT}"
        self._runner.run(
            ["systemd-run", f"--unit={UNIT}", f"--on-active={WAIT_S}", "--collect", "sh", "-c",
             command]
        )  # fmt: skip
