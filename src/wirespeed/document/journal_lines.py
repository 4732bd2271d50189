# SPDX-License-Identifier: Apache-2.0
"""Write and read journals of changes: one JSON object per line, numbered, with a checksum.

A record ends with its number ("n", from 1) and a CRC-32 of the text before it ("crc32", 8
hexadecimal digits). The numbers distinguish a torn write from damage. A torn write of a power loss
or a kill was never complete, so the next record takes its number. A missing number belonged to a
complete record, which is lost. Older journals have lines without number and checksum.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wirespeed.model.input.bounded import load_json
from wirespeed.model.words import counted

_SEALED = re.compile(r'(\{.*), "crc32": "([0-9a-f]{8})"\}')


@dataclass(slots=True)
class JournalLines:
    """Content of a journal's text."""

    records: list[dict[str, Any]] = field(default_factory=list)
    """Oldest first."""
    damaged: list[str] = field(default_factory=list)
    """Complete records that cannot be read, as sentences with line numbers of the file."""
    last: int = 0
    """Number of the newest record."""
    unchecked: bool = False
    """True if an older version wrote records without a checksum."""
    unended: bool = False
    """True if the text ends within a line."""

    def line(self, record: Mapping[str, object]) -> str:
        """Return the text that appends one more record to the file; call `written` afterwards."""
        start = "\n" if self.unended else ""
        self.unended = True
        return start + sealed(self.last + 1, record)

    def written(self) -> None:
        """Note that the last `line` is in the file as a whole."""
        self.last += 1
        self.unended = False


def sealed(number: int, record: Mapping[str, object]) -> str:
    """Return a record as a line, with its number and checksum."""
    body = json.dumps({**record, "n": number})[:-1]
    return f'{body}, "crc32": "{_checksum(body)}"}}\n'


def read_lines(text: str, complete: int | None = None) -> JournalLines:
    """Read a journal. complete: number of records known to be on the disk whole, None: unknown."""
    found = JournalLines(unended=bool(text) and not text.endswith("\n"))
    lines = text.split("\n")
    numbered, after = False, 0
    unread: list[int] = []
    for where, line in enumerate(lines, 1):
        record = _record(line, plain=not numbered)
        if record is None:
            unread += [where] if line else []
            continue
        number = record.pop("n", None)
        if not numbered and (number is None or found.unchecked):
            # Lines of an older version have no numbers: an unreadable line may be torn or damaged.
            found.damaged += [_lost([line], after, 1) for line in unread]
        elif number != found.last + 1:
            found.damaged.append(_lost(unread, after, abs(number - found.last - 1)))
        numbered = number is not None
        found.unchecked = found.unchecked or not numbered
        found.records.append(record)
        found.last, after, unread = number or found.last + 1, where, []
    if complete is not None and found.last < complete:
        found.damaged.append(_lost(unread, after, complete - found.last))
        found.last = complete
    elif complete is None or found.unchecked:
        # A torn write does not end with a line break.
        found.damaged += [_lost([line], after, 1) for line in unread if line < len(lines)]
    return found


def _record(line: str, *, plain: bool) -> dict[str, Any] | None:
    """Return the record of a line; None where it is damaged or torn.

    plain: it may lack a checksum.
    """
    found = _SEALED.fullmatch(line)
    whole = found is not None and _checksum(found[1]) == found[2]
    try:
        read = load_json(f"{found[1]}}}" if found and whole else line) if whole or plain else None
    except ValueError:
        return None
    if whole:
        return read if isinstance(read, dict) else None
    return read if isinstance(read, dict) and not read.keys() & {"n", "crc32"} else None


def _lost(unread: Sequence[int], after: int, count: int) -> str:
    if not unread:
        return f"{counted(count, 'record')} after line {after} missing"
    if len(unread) == 1:
        return f"line {unread[0]} is damaged"
    return f"lines {unread[0]} to {unread[-1]} are damaged"


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
