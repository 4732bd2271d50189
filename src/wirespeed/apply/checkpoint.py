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
# Of changes that were made from a session on the host itself.
KEPT = "wirespeed-apply-unconfirmed"
SCRIPT = f"{FOLDER}/checkpoint.sh"
# Exists once the timer has run the script.
FIRED = f"{FOLDER}/checkpoint-fired"
WAIT_S = 120


class Checkpoint:
    """The timer of one host."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @contextmanager
    def guarding(
        self, changes: Sequence[tuple[Setting, Value]], *, keep: bool = False
    ) -> Iterator[None]:
        """While in the body these settings may change; they are as given.

        Left by an error, the timer goes on: the connection may be what failed. keep: another timer
        goes on after the body, until a later command stops it.
        """
        if not changes:
            yield
            return
        self._write_script(changes)
        self._arm(UNIT)
        yield
        if keep:
            # Its time begins now, however long the body took.
            self._arm(KEPT)
            self._stop(UNIT)
        else:
            self.confirm()

    @property
    def waits(self) -> bool:
        """Whether a timer is armed, so that changes wait for confirmation."""
        timers = [f"{unit}.timer" for unit in (UNIT, KEPT)]
        # It prints a state a line, and fails unless one is active.
        told = self._runner.run(["systemctl", "is-active", *timers], check=False).stdout
        return "active" in told.split()

    def confirm(self) -> bool:
        """Stop the timers: the host is reached. Returns whether one has undone changes before."""
        self._stop(UNIT, KEPT)
        fired = bool(self._runner.glob(FIRED))
        if fired:
            self._runner.run(["rm", "-f", FIRED])
        return fired

    def _stop(self, *units: str) -> None:
        names = [f"{unit}.{kind}" for unit in units for kind in ("timer", "service")]
        # Reported as failed where there is none.
        self._runner.run(["systemctl", "stop", *names], check=False)

    def _write_script(self, changes: Sequence[tuple[Setting, Value]]) -> None:
        undo: list[Action] = []
        for setting, value in reversed(changes):
            undo += setting.actions(value)
        text = script("Undoes what `wirespeed apply` changed and nobody confirmed.", undo)
        replace_file(self._runner, SCRIPT, text)

    def _arm(self, unit: str) -> None:
        command = f"exec 9>{LOCK}; flock 9; : >{FIRED}; sh {SCRIPT}"
        self._runner.run(
            ["systemd-run", f"--unit={unit}", f"--on-active={WAIT_S}", "--collect", "sh", "-c",
             command]
        )  # fmt: skip
