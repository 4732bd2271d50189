# SPDX-License-Identifier: Apache-2.0
"""Test journals whose text is cut, overwritten or of an older version."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.document.journal_lines import read_lines, sealed

RECORDS = [{"began": True}, {"changed": "A", "old": 'x"}\n\u2028é'}, {"restored": "A"}, {"x": [1]}]


def journal() -> str:
    return "".join(sealed(number, record) for number, record in enumerate(RECORDS, 1))


def damaged(octets: bytes) -> str:
    """Return the text that a Runner reads."""
    return octets.decode(errors="replace")


def test_read_lines_whole_journal_returns_every_record() -> None:
    found = read_lines(journal(), complete=4)
    assert found.records == RECORDS
    assert (found.damaged, found.last, found.unchecked, found.unended) == ([], 4, False, False)


@given(st.integers(0, len(journal().encode()) - 1), st.integers(1, 255))
def test_read_lines_changed_octet_names_the_line(at: int, flip: int) -> None:
    octets = bytearray(journal().encode())
    octets[at] ^= flip
    found = read_lines(damaged(bytes(octets)), complete=4)
    # Only the last line break carries no data.
    assert found.damaged or found.records == RECORDS
    if at < len(octets) - 1:
        line = octets[:at].count(b"\n") + 1
        assert any(str(line) in sentence for sentence in found.damaged), found.damaged


@given(st.integers(0, len(journal().encode())))
def test_read_lines_cut_anywhere_reports_what_was_complete(at: int) -> None:
    text = damaged(journal().encode()[:at])
    found = read_lines(text, complete=4)
    assert found.records == RECORDS[: len(found.records)]
    assert bool(found.damaged) == (len(found.records) < 4)
    assert read_lines(text, complete=len(found.records)).damaged == []


@given(st.integers(1, len(journal().encode()) - 1), st.integers(1, 200))
def test_read_lines_zeros_are_damage(at: int, length: int) -> None:
    octets = bytearray(journal().encode())
    length = min(length, len(octets) - at)
    octets[at : at + length] = bytes(length)
    found = read_lines(damaged(bytes(octets)), complete=4)
    assert found.damaged or found.records == RECORDS


def test_read_lines_journal_of_zeros_has_no_record() -> None:
    found = read_lines("\0" * 4096, complete=4)
    assert (found.records, found.damaged) == ([], ["line 1 is damaged"])


def test_read_lines_deleted_line_is_missing() -> None:
    lines = journal().splitlines(keepends=True)
    assert read_lines("".join(lines[:1] + lines[2:])).damaged == ["1 record after line 1 missing"]
    assert read_lines("".join(lines[:2]), complete=4).damaged == ["2 records after line 2 missing"]


def test_read_lines_torn_write_is_continued_without_damage() -> None:
    text = journal()[:-9]
    found = read_lines(text, complete=3)
    assert (found.damaged, found.unended, found.last) == ([], True, 3)
    text += found.line({"new": 1})[:-5]  # torn again
    found = read_lines(text, complete=3)
    text += found.line({"new": 2})
    again = read_lines(text, complete=4)
    assert again.records == [*RECORDS[:3], {"new": 2}]
    assert again.damaged == []


def test_read_lines_older_version_without_checksums_is_read_and_reported() -> None:
    old = '{"began": true}\n\n{"changed": "A"}\n\n{"changed": "B"}\n'
    found = read_lines(old, complete=1)
    assert found.records == [{"began": True}, {"changed": "A"}, {"changed": "B"}]
    assert (found.unchecked, found.damaged) == (True, [])
    both = read_lines(old + found.line({"restored": "B"}), complete=1)
    assert both.records[-1] == {"restored": "B"}
    assert (both.unchecked, both.damaged) == (True, [])


@pytest.mark.parametrize("line", ['{"chan', "\0\0\0", "[1]", "[" * 100_000])
def test_read_lines_older_version_damaged_line_is_named(line: str) -> None:
    old = f'{{"began": true}}\n\n{line}\n\n{{"changed": "B"}}\n'
    assert read_lines(old, complete=1).damaged == ["line 3 is damaged"]
    assert read_lines(old.rpartition('{"changed"')[0], complete=1).damaged == ["line 3 is damaged"]


def test_read_lines_checksum_removed_is_damage() -> None:
    lines = journal().splitlines(keepends=True)
    record = json.loads(lines[2])
    del record["crc32"]
    lines[2] = json.dumps(record) + "\n"
    assert read_lines("".join(lines), complete=4).damaged == ["line 3 is damaged"]
