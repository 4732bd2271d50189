# SPDX-License-Identifier: Apache-2.0
"""Record the changes of a host, and the values before them, on the host itself.

The record on the host lets `rollback` work from another workstation. Each record is on the disk
before its change. Only the first record of a setting counts: its value before the first apply. A
second file counts the complete records, one octet each, so that a journal with a lost end is
noticed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from wirespeed.apply.actions import COMMAND_S
from wirespeed.apply.durable import append_text, read_text, replace_file
from wirespeed.apply.kinds import UnknownKind, entry_to_json, setting_from_json
from wirespeed.apply.own_folder import check_own
from wirespeed.apply.same_host import check_same_host, identity
from wirespeed.apply.setting import Entry, Setting, Value
from wirespeed.document.journal_lines import JournalLines, read_lines
from wirespeed.host.file import HOST_FILE
from wirespeed.model.errors import WirespeedError
from wirespeed.model.host.facts import HostFacts
from wirespeed.remote.interface import HostUnreachable, RemoteError, Runner

_ABOVE = "/var/lib/wirespeed"
FOLDER = f"{_ABOVE}/apply"
PATH = f"{FOLDER}/journal"
COUNT = f"{FOLDER}/journal.count"
BEFORE = f"{FOLDER}/before.json"
LOCK = "/run/wirespeed-apply.lock"


class JournalNotWritten(WirespeedError):
    """Raised when the host's disk takes no record; the change is not made then."""


class Journal:
    """Journal of one host: `load` reads it, the other methods continue it."""

    def __init__(self, runner: Runner, now: HostFacts | None) -> None:
        self._runner, self._now = runner, now
        self._lines = JournalLines()
        self._entries: dict[str, Entry] = {}
        self._exceptions: dict[str, frozenset[str]] = {}
        # Values that a search has proven, by the setting's name; None: not to be set at boot.
        self._kept: dict[str, Value] = {}
        # Changes of other versions, by the setting's name.
        self._unknown: dict[str, str] = {}
        self._over = False
        self._counted = 0
        # Identity of the journal's host, from the first record.
        self._host: object = None
        self.exists = False
        # Complete records that cannot be read.
        self.damaged: tuple[str, ...] = ()
        # Kernel command line before the first apply; None where it was not recorded.
        self.cmdline: str | None = None

    @classmethod
    def load(cls, runner: Runner, now: HostFacts | None = None) -> Journal:
        """Read the host's journal; without a journal there are no entries.

        now: facts for `begin`. Raises NotOurs where another user than root could have written it,
        and OtherHostsJournal.
        """
        journal = cls(runner, now)
        check_own(runner, FOLDER, (PATH, COUNT, BEFORE))
        text, count = read_text(runner, PATH), read_text(runner, COUNT)
        if text is None and count is None:
            return journal
        journal._lines = lines = read_lines(text or "", complete=max(1, len(count or "")))
        journal._counted = len(count or "")
        for record in lines.records:
            journal._replay(record)
        if journal._over:  # only the removal of the journal was interrupted
            return cls(runner, now)
        check_same_host(runner, journal._host, FOLDER)
        damaged = [f"{PATH}: {sentence}" for sentence in lines.damaged]
        if text is None:
            damaged = [f"{PATH} is gone; {COUNT} tells of {len(count or '')} records"]
        elif count is None and lines.last > 1 and not lines.unchecked:
            damaged.append(f"{COUNT} is gone")
        journal.damaged, journal.exists = tuple(damaged), True
        return journal

    def begin(self) -> None:
        """Start a journal where there is none.

        The facts are on the disk before there is a journal, and so before the first change. Raises
        JournalNotWritten.
        """
        if self.exists:
            return
        assert self._now is not None, "a journal is begun with the facts of its host"
        with _written(self._runner):
            self._runner.run(["install", "-d", "-m", "0700", FOLDER])
            self._runner.run(["sync", "/var/lib", _ABOVE])
            self._runner.run(["rm", "-f", COUNT, PATH])
            facts = json.dumps(HOST_FILE.document(self._now)) + "\n"
            replace_file(self._runner, BEFORE, facts)
            self._host = identity(self._runner)
            began = {"began": True, "cmdline": self._now.kernel.cmdline, "host": self._host}
            replace_file(self._runner, PATH, self._lines.line(began))
            replace_file(self._runner, COUNT, ".")
        self._lines.written()
        self._counted, self.exists = 1, True

    def note(self, setting: Setting, old: Value) -> None:
        """Record a change before it is made. Raises JournalNotWritten."""
        self.begin()
        if setting.name not in self._entries:
            entry = Entry(setting, old)
            self._write(entry_to_json(entry))
            self._entries[setting.name] = entry

    def forget(self, name: str) -> None:
        """Record that a setting has its previous value again. Raises JournalNotWritten.

        The value is flushed to the disk first: an interrupted attempt may have left it only in the
        cache.
        """
        self._runner.run(["sync"], timeout_s=COMMAND_S)
        self._write({"restored": name})
        self._entries.pop(name, None)
        self._kept.pop(name, None)

    def note_kept(self, name: str, value: Value) -> None:
        """Record the proven value of a setting; None: it could not be set."""
        if name not in self._kept or self._kept[name] != value:
            self._write({"kept": name, "value": value})
            self._kept[name] = value

    def kept(self, name: str, or_else: Value) -> Value:
        """Return the proven value of a setting; or_else where an older version kept it."""
        return self._kept.get(name, or_else)

    def note_exceptions(self, name: str, parts: Iterable[str]) -> None:
        """Record the parts of a setting that the kernel or a device rejects: not tried again."""
        found = frozenset(parts)
        if self._exceptions.get(name, frozenset()) != found:
            self._write({"exceptions": name, "parts": sorted(found)})
            self._exceptions[name] = found

    def exceptions(self, name: str) -> frozenset[str]:
        return self._exceptions.get(name, frozenset())

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Recorded changes, oldest first."""
        return tuple(self._entries.values())

    @property
    def unknown(self) -> tuple[str, ...]:
        """Changes of another version, which this version cannot undo."""
        return tuple(self._unknown.values())

    @property
    def unchecked(self) -> bool:
        """True if an older version wrote records without checksums."""
        return self._lines.unchecked

    @property
    def of_unknown_host(self) -> bool:
        """True if the journal has no identity of its host, like those of older versions."""
        return self.exists and not self._host

    @property
    def before(self) -> str | None:
        """Facts that `begin` recorded."""
        return read_text(self._runner, BEFORE)

    def remove(self) -> None:
        """Remove the journal: the host has its previous state, which is on the disk.

        A record of the end is written before anything is removed, and removed last. Raises
        JournalNotWritten.
        """
        self._runner.run(["sync"], timeout_s=COMMAND_S)
        if self.exists:
            self._write({"over": True})
            self.exists = False
        with _written(self._runner):
            if self._runner.glob(FOLDER):
                self._runner.run(["rm", "-f", COUNT, BEFORE])
                self._runner.run(["sync", FOLDER])
                self._runner.run(["rm", "-f", PATH])
                self._runner.run(["sync", FOLDER])
                self._runner.run(["rm", "-rf", "--one-file-system", FOLDER])
            if self._runner.glob(_ABOVE):
                self._runner.run(["rmdir", "--ignore-fail-on-non-empty", _ABOVE])

    def _write(self, record: Mapping[str, object]) -> None:
        with _written(self._runner):
            append_text(self._runner, PATH, self._lines.line(record))
            self._lines.written()
            if not self._lines.unchecked:
                append_text(self._runner, COUNT, "." * (self._lines.last - self._counted))
                self._counted = self._lines.last

    def _replay(self, record: Mapping[str, object]) -> None:
        match record:
            case {"changed": str(kind), "fields": dict(fields), "old": str() | None as old}:
                self._replay_change(kind, fields, old, record.get("name"))
            case {"restored": str(name)}:
                self._entries.pop(name, None)
                self._unknown.pop(name, None)
                self._kept.pop(name, None)
            case {"kept": str(name), "value": str() | None as value}:
                self._kept[name] = value
            case {"exceptions": str(name), "parts": list(parts)}:
                self._exceptions[name] = frozenset(map(str, parts))
            case {"began": True}:
                cmdline = record.get("cmdline")
                self.cmdline = cmdline if isinstance(cmdline, str) else None
                self._host = record.get("host")
            case {"over": True}:
                self._over = True
            case {"rolled_back": bool()}:  # Record of an older version.
                pass
            case _:
                text = json.dumps(record)
                self._unknown[text] = f"{text} is a record that this version does not know"

    def _replay_change(
        self, kind: str, fields: dict[str, object], old: Value, name: object
    ) -> None:
        try:
            setting = setting_from_json(kind, fields)
        except UnknownKind:
            what = str(name) if name else json.dumps(fields)
            self._unknown.setdefault(what, f"{what} ({kind}) was changed by another version")
            return
        self._entries.setdefault(setting.name, Entry(setting, old))


@contextmanager
def _written(runner: Runner) -> Iterator[None]:
    try:
        yield
    except HostUnreachable:
        raise
    except (OSError, RemoteError) as fault:
        told = fault.what if isinstance(fault, RemoteError) else fault.strerror
        raise JournalNotWritten(
            f"the journal of changes in {FOLDER} on {runner.name} cannot be written: {told}",
            "Free space there, or mount it writable. Then run the command again, or `wirespeed "
            "rollback`.",
        ) from fault
