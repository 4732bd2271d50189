# SPDX-License-Identifier: Apache-2.0
"""Let a host undo a change by itself when the change cuts the connection.

Before such changes, the host gets a script that undoes them and a timer (systemd-run) that runs it.
A client that still reaches the host afterwards stops the timer. The script waits for the lock that
an apply holds, so it never disturbs a running apply.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from wirespeed.apply.actions import Action, script
from wirespeed.apply.durable import read_text, replace_file
from wirespeed.apply.journal import FOLDER, LOCK
from wirespeed.apply.kinds import UnknownKind, entry_to_json, setting_from_json
from wirespeed.apply.make import attempt
from wirespeed.apply.setting import Entry, Value
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import ProgramMissing, Runner

UNIT = "wirespeed-apply-checkpoint"
# Timer for changes that were made from a session on the host itself.
KEPT = "wirespeed-apply-unconfirmed"
SCRIPT = f"{FOLDER}/checkpoint.sh"
# Settings that the script restores: a list of the journal's records.
ENTRIES = f"{FOLDER}/checkpoint.json"
# Exists once the timer has started the script; says nothing about the script's progress.
FIRED = f"{FOLDER}/checkpoint-fired"
WAIT_S = 120


@dataclass(slots=True)
class Undone:
    """Result of the timer, as read back."""

    back: list[str] = field(default_factory=list)
    """Settings with their previous value."""
    left: list[str] = field(default_factory=list)
    """Other settings, each with its current value or the reason why that is unknown."""


class Checkpoint:
    """Timer of one host."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @contextmanager
    def guarding(self, changes: Sequence[Entry], *, keep: bool = False) -> Iterator[None]:
        """Guard the changes of these settings, whose current values are given, while the body runs.

        When an error leaves the body, the timer continues, because the connection may have failed.
        keep: another timer continues after the body until a later command stops it.
        """
        if not changes:
            yield
            return
        self._write_script(changes)
        self._arm(UNIT)
        yield
        if keep:
            # Its time starts now, however long the body took.
            self._arm(KEPT)
            self._stop(UNIT)
        else:
            self.stop()

    @property
    def waits(self) -> bool:
        """True if a timer is armed, so that changes wait for confirmation."""
        timers = [f"{unit}.timer" for unit in (UNIT, KEPT)]
        # Prints one state per line, and fails unless one unit is active.
        told = self._runner.run(["systemctl", "is-active", *timers], check=False).stdout
        return "active" in told.split()

    def stop(self) -> None:
        """Stop the timers, because the host is reachable."""
        self._stop(UNIT, KEPT)

    def undone(self) -> Undone | None:
        """Return the changes that an expired timer has undone, once; None: no timer has expired.

        The caller must have checked that the folder is root's own, and of this host.
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
        """Return the current value, or why it is unknown; "" when it is the previous value."""
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
        # systemctl reports a failure where there is no such unit. A host without systemd has no
        # timer, and `tune --keep` may have changed it.
        with suppress(ProgramMissing):
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
    """Return the shell command that runs the script while it holds the lock."""
    return f"exec 9>{lock}; flock 9; : >{fired}; sh {script_path}"
