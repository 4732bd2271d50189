# SPDX-License-Identifier: Apache-2.0
"""What has been changed on this host, and what was it before? Kept on the host itself.

So `rollback` works from another workstation. One JSON object a line, appended and fsynced before
the change that it tells of. Of each setting only the first record counts: what it was before the
first apply. A line that a power loss left half written is no JSON and is passed over: its change
was never made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from wirespeed.apply.actions import COMMAND_S
from wirespeed.apply.durable import append_line, read_text, replace_file
from wirespeed.apply.kinds import setting_from_json
from wirespeed.apply.setting import Setting, Value
from wirespeed.remote.interface import Runner

FOLDER = "/var/lib/wirespeed/apply"
PATH = f"{FOLDER}/journal"
BEFORE = f"{FOLDER}/before.json"
LOCK = "/run/wirespeed-apply.lock"


@dataclass(frozen=True, slots=True)
class Entry:
    """A setting that was changed, and what it was."""

    setting: Setting
    old: Value


class Journal:
    """Read once by `load`; then it knows what it has noted itself."""

    def __init__(self, runner: Runner, now: str) -> None:
        """now: the host's facts as JSON, which `begin` records."""
        self._runner = runner
        self._now = now
        self._entries: dict[str, Entry] = {}
        self._exceptions: dict[str, frozenset[str]] = {}
        self.exists = False
        self.rolled_back = False

    @classmethod
    def load(cls, runner: Runner, now: str = "") -> Journal:
        """The host's journal; without entries where there is none."""
        journal = cls(runner, now)
        text = read_text(runner, PATH)
        journal.exists = text is not None
        for line in (text or "").splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            journal._replay(record)
        return journal

    def begin(self) -> None:
        """Start one where there is none.

        The facts are on the disk before there is a journal, and so before the first change.
        """
        if not self.exists:
            self._runner.run(["mkdir", "-p", "-m", "700", FOLDER])
            self._runner.run(["sync", "/var/lib", "/var/lib/wirespeed"])
            replace_file(self._runner, BEFORE, self._now)
            replace_file(self._runner, PATH, json.dumps({"began": True}) + "\n")
            self.exists = True

    def say(self, *, rolled_back: bool) -> None:
        """Which way the host goes: to the plan, or back."""
        if self.rolled_back != rolled_back:
            self._write({"rolled_back": rolled_back})
            self.rolled_back = rolled_back

    def note(self, setting: Setting, old: Value) -> None:
        """Record a change that is about to be made."""
        self.begin()
        if setting.name not in self._entries:
            kind = type(setting).__name__
            self._write({"changed": kind, "fields": asdict(setting), "old": old})
            self._entries[setting.name] = Entry(setting, old)

    def forget(self, name: str) -> None:
        """Record that a setting is again what it was.

        That is on the disk first: an attempt that was cut may have left it in the cache alone.
        """
        self._runner.run(["sync"], timeout_s=COMMAND_S)
        self._write({"restored": name})
        self._entries.pop(name, None)

    def note_exceptions(self, name: str, parts: Iterable[str]) -> None:
        """Record what the kernel or a device refuses of a setting: it is not tried again."""
        found = frozenset(parts)
        if self._exceptions.get(name, frozenset()) != found:
            self._write({"exceptions": name, "parts": sorted(found)})
            self._exceptions[name] = found

    def exceptions(self, name: str) -> frozenset[str]:
        return self._exceptions.get(name, frozenset())

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Oldest first."""
        return tuple(self._entries.values())

    @property
    def before(self) -> str | None:
        """The facts that `begin` recorded."""
        return read_text(self._runner, BEFORE)

    def remove(self) -> None:
        """Leave nothing: the host is what it was, and that is on the disk. The journal goes first:
        it alone says that there is something to undo."""
        self._runner.run(["sync"], timeout_s=COMMAND_S)
        self._runner.run(["rm", "-f", PATH])
        self._runner.run(["sync", FOLDER])
        self._runner.run(["rm", "-rf", "--one-file-system", FOLDER])
        self._runner.run(["rmdir", "--ignore-fail-on-non-empty", "/var/lib/wirespeed"])
        self.exists = False

    def _write(self, record: dict[str, object]) -> None:
        append_line(self._runner, PATH, json.dumps(record))

    def _replay(self, record: dict[str, object]) -> None:
        match record:
            case {"changed": str(kind), "fields": dict(fields), "old": old}:
                setting = setting_from_json(kind, fields)
                value = old if isinstance(old, str) else None
                self._entries.setdefault(setting.name, Entry(setting, value))
            case {"restored": str(name)}:
                self._entries.pop(name, None)
            case {"exceptions": str(name), "parts": list(parts)}:
                self._exceptions[name] = frozenset(map(str, parts))
            case {"rolled_back": bool(back)}:
                self.rolled_back = back
