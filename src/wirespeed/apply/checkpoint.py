# SPDX-License-Identifier: Apache-2.0
"""Let a host undo by itself a change that cuts the connection by which it is made.

Before such changes the host gets a script that undoes them and a timer (systemd-run) that runs it;
whoever still reaches the host afterwards stops the timer. The script waits for the lock that an
apply holds: one that lives is never interfered with, however slow it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from wirespeed.apply.actions import Action, script
from wirespeed.apply.durable import read_text, replace_file
from wirespeed.apply.journal import FOLDER, LOCK
from wirespeed.apply.kinds import UnknownKind, entry_to_json, setting_from_json
from wirespeed.apply.make import attempt
from wirespeed.apply.setting import Entry, Value
from wirespeed.model.bounded import load_json
from wirespeed.remote.interface import Runner

UNIT = "wirespeed-apply-checkpoint"
# Of changes that were made from a session on the host itself.
KEPT = "wirespeed-apply-unconfirmed"
SCRIPT = f"{FOLDER}/checkpoint.sh"
# What the script puts back: a list of the journal's records.
ENTRIES = f"{FOLDER}/checkpoint.json"
# Exists once the timer has started the script; it does not tell what the script has reached.
FIRED = f"{FOLDER}/checkpoint-fired"
WAIT_S = 120


@dataclass(slots=True)
class Undone:
    """What the timer has reached, as read back.

    back: settings that are what they were. left: the others, each with what it is or why that is
    not known.
    """

    back: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


class Checkpoint:
    """The timer of one host."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @contextmanager
    def guarding(self, changes: Sequence[Entry], *, keep: bool = False) -> Iterator[None]:
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
            self.stop()

    @property
    def waits(self) -> bool:
        """Whether a timer is armed, so that changes wait for confirmation."""
        timers = [f"{unit}.timer" for unit in (UNIT, KEPT)]
        # It prints a state a line, and fails unless one is active.
        told = self._runner.run(["systemctl", "is-active", *timers], check=False).stdout
        return "active" in told.split()

    def stop(self) -> None:
        """Stop the timers: the host is reached."""
        self._stop(UNIT, KEPT)

    def undone(self) -> Undone | None:
        """Return what a timer that ran out has undone, once; None: none ran out.

        The folder must have been checked to be root's own, and of this host.
        """
        if not self._runner.glob(FIRED):
            return None
        undone = self._read_back()
        self._runner.run(["rm", "-f", FIRED])
        return undone

    def _read_back(self) -> Undone:
        undone = Undone()
        try:
            records = load_json(read_text(self._runner, ENTRIES) or "")
        except ValueError:
            records = None
        if not isinstance(records, list):
            return Undone(left=[f"{ENTRIES} cannot be read: what the timer undid is not known"])
        for record in records:
            match record:
                case {"changed": str(kind), "name": str(name), "fields": dict(fields),
                      "old": str() | None as old}:  # fmt: skip
                    why = self._why_left(kind, fields, old)
                    if why:
                        undone.left.append(f"{name}: {why}")
                    else:
                        undone.back.append(name)
                case _:
                    undone.left.append(f"{json.dumps(record)}: this version does not know it")
        return undone

    def _why_left(self, kind: str, fields: dict[str, object], old: Value) -> str:
        """Return what the setting is, or why that is not known; "": what it was."""
        try:
            setting = setting_from_json(kind, fields)
        except UnknownKind:
            return "another version changed it"

        def left() -> str:
            parts = setting.left(self._runner, old)
            return "" if setting.excusable(self._runner, parts) else ", ".join(parts)

        parts, fault = attempt(setting.name, left)
        return fault or (f"is {parts}" if parts else "")

    def _stop(self, *units: str) -> None:
        names = [f"{unit}.{kind}" for unit in units for kind in ("timer", "service")]
        # Reported as failed where there is none.
        self._runner.run(["systemctl", "stop", *names], check=False)

    def _write_script(self, changes: Sequence[Entry]) -> None:
        undo: list[Action] = []
        for entry in reversed(changes):
            undo += entry.setting.actions(entry.old)
        records = [entry_to_json(entry) for entry in changes]
        replace_file(self._runner, ENTRIES, json.dumps(records))
        text = script("Undoes what `wirespeed apply` changed and nobody confirmed.", undo)
        replace_file(self._runner, SCRIPT, text)

    def _arm(self, unit: str) -> None:
        self._runner.run(
            ["systemd-run", f"--unit={unit}", f"--on-active={WAIT_S}", "--collect", "sh", "-c",
             waiting(LOCK, FIRED, SCRIPT)]
        )  # fmt: skip


def waiting(lock: str, fired: str, script_path: str) -> str:
    """The shell command that runs the script once it holds the lock, and holds it to its end."""
    return f"exec 9>{lock}; flock 9; : >{fired}; sh {script_path}"
