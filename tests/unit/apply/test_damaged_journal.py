# SPDX-License-Identifier: Apache-2.0
"""Test rollback with a journal or facts that are damaged, lost, or of another version.

Rollback undoes what it can read, names the rest, and fails while something may be left.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.apply_plans import SMALL, lab_plan, plan_for
from tests.support.effort import effort
from tests.support.fake_host import FakeHost, no_sleep
from wirespeed.apply import session
from wirespeed.apply.journal import BEFORE, PATH
from wirespeed.apply.rollback import RolledBack
from wirespeed.apply.target import Refused
from wirespeed.document.journal_lines import sealed

HOST = "ssh://lab1"
PF = "0000:21:00.0"


def applied() -> FakeHost:
    return deepcopy(_applied())


@cache
def _applied() -> FakeHost:
    host = FakeHost()
    session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    return host


def roll_back(host: FakeHost) -> RolledBack:
    return session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)


def rewrite(host: FakeHost, path: str, change: Callable[[str], str]) -> None:
    """Change a file on the disk behind the host's back."""
    host.disk.sync_all()
    host.disk.disk[path] = change(host.disk.disk[path])


def line_of(host: FakeHost, words: str) -> int:
    """Return the number of the journal's first line with these words."""
    lines = host.disk.disk[PATH].split("\n")
    return next(n for n, line in enumerate(lines, 1) if words in line)


def without_line(text: str, number: int, put: str) -> str:
    lines = text.split("\n")
    lines[number - 1] = put
    return "\n".join(lines)


def is_as_before(host: FakeHost, *, but: tuple[str, ...] = ()) -> None:
    """Check that the host has its previous state, except in wirespeed's folder and these keys."""
    now, before = host.state(), FakeHost().state()
    for state in (now, before):
        files, folders = state["files"], state["folders"]
        assert isinstance(files, dict)
        assert isinstance(folders, list)
        state["files"] = {p: t for p, t in files.items() if "/var/lib/wirespeed" not in p}
        state["folders"] = [path for path in folders if "/var/lib/wirespeed" not in path]
        for key in but:
            del state[key]
    assert now == before


def newer(text: str) -> str:
    """Return the facts as a later minor version writes them."""
    facts = json.loads(text)
    facts["schema_version"] = "1.99"
    facts["cooling"] = "water"
    facts["cpus"][0]["colour"] = "green"
    return json.dumps(facts)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _: "", "before.json on lab1 is not JSON"),
        (lambda text: text[:99], "before.json on lab1 is not JSON"),
        (lambda _: '{"schema_version": "2.0"}', 'schema_version "2.0"'),
        (newer, "keys that a later version wrote: cpus.0.colour, cooling"),
    ],
    ids=["empty", "cut", "newer-major", "newer-minor"],
)
def test_rollback_unreadable_facts_undoes_first(change: Callable[[str], str], said: str) -> None:
    host = applied()
    rewrite(host, BEFORE, change)
    undone = roll_back(host)
    is_as_before(host)
    assert undone.failed
    assert any(said in sentence for sentence in undone.not_compared), undone.not_compared
    assert undone.put_back == undone.settings > 5


def test_rollback_absent_facts_undoes_first() -> None:
    host = applied()
    host.disk.disk.pop(BEFORE)
    undone = roll_back(host)
    is_as_before(host)
    assert undone.failed
    assert any("before.json" in sentence for sentence in undone.not_compared)
    assert "nothing to roll back" not in str(undone)


def test_rollback_newer_facts_compares_the_known_ones() -> None:
    host = applied()
    rewrite(host, BEFORE, lambda text: newer(text).replace('"igb"', '"ixgbe"'))
    undone = roll_back(host)
    assert {d.now for d in undone.differences or ()} >= {"igb"}


def unknown_kind(text: str) -> str:
    record = {"changed": "FanSpeed", "name": "fan 3", "fields": {"fan": 3}, "old": "slow"}
    return text + sealed(text.count("\n") + 1, record)


def test_rollback_unknown_kind_is_named_and_the_rest_undone() -> None:
    host = applied()
    rewrite(host, PATH, unknown_kind)
    undone = roll_back(host)
    is_as_before(host)
    assert undone.failed
    [said] = undone.unread
    assert "fan 3 (FanSpeed)" in said
    # The version that knows the change can still undo it.
    assert "FanSpeed" in (host.disk.read(PATH) or "")
    again = roll_back(host)
    assert again.failed
    assert again.unread == (said,)


def test_apply_unknown_kind_is_named_and_the_plan_carried_out() -> None:
    host = FakeHost()
    session.apply(host.reach, HOST, plan_for(host, SMALL), may_reboot=True, sleep=no_sleep)
    rewrite(host, PATH, unknown_kind)
    done = session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    assert [row for row in done.rows or () if row.failed] == []
    assert any("fan 3 (FanSpeed)" in said for said in done.unread)
    assert done.failed


@pytest.mark.parametrize("put", ["", "\0" * 40, "{", '{"changed": "Vfs"}'])
@pytest.mark.parametrize("words", ['"Vfs"', '"GrubDropIn"', '"EnabledUnit"'])
def test_rollback_damaged_line_is_named_and_the_rest_undone(words: str, put: str) -> None:
    host = applied()
    number = line_of(host, words)
    rewrite(host, PATH, lambda text: without_line(text, number, put))
    undone = roll_back(host)
    assert undone.failed
    assert any(str(number if put else number - 1) in said for said in undone.unread), undone.unread
    assert undone.put_back > 5
    assert host.disk.read(PATH) is not None
    assert roll_back(host).failed


def test_rollback_journal_of_zeros_fails() -> None:
    host = applied()
    rewrite(host, PATH, lambda text: "\0" * len(text))
    undone = roll_back(host)
    assert undone.failed
    assert not undone.nothing
    assert undone.unread


def test_rollback_lost_journal_fails() -> None:
    host = applied()
    host.disk.disk.pop(PATH)
    undone = roll_back(host)
    assert undone.failed
    assert not undone.nothing
    assert "is gone" in undone.unread[0]


def test_apply_damaged_journal_is_refused() -> None:
    # The damaged line may hold a setting's first value, so it must not be recorded again.
    host = applied()
    rewrite(host, PATH, lambda text: without_line(text, line_of(host, '"Vfs"'), "\0"))
    before = host.state()
    with pytest.raises(Refused, match="wirespeed rollback"):
        session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    assert host.state() == before


def test_rollback_journal_of_an_older_version_is_read_and_reported() -> None:
    host = applied()

    def older(text: str) -> str:
        records = [json.loads(line) for line in text.splitlines()]
        return "\n\n".join(
            json.dumps({k: v for k, v in record.items() if k not in ("n", "crc32", "name")})
            for record in records
        ) + "\n"  # fmt: skip

    rewrite(host, PATH, older)
    host.disk.disk.pop(f"{PATH}.count")
    undone = roll_back(host)
    is_as_before(host)
    assert undone.unchecked
    assert not undone.failed
    assert host.disk.read(PATH) is None


@cache
def text_applied() -> str:
    host = applied()
    host.disk.sync_all()
    return host.disk.disk[PATH]


def never_lies(change: Callable[[str], str]) -> None:
    host = applied()
    rewrite(host, PATH, change)
    undone = roll_back(host)
    if not undone.failed:
        is_as_before(host)
    else:
        assert undone.unread or undone.not_compared or undone.stuck or undone.reboot_due


@settings(max_examples=effort(30, 1000))
@given(st.data())
def test_rollback_journal_cut_anywhere_never_reports_false_success(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text_applied())))
    never_lies(lambda text: text[:at])


@settings(max_examples=effort(30, 1000))
@given(st.data())
def test_rollback_journal_overwritten_anywhere_never_reports_false_success(
    data: st.DataObject,
) -> None:
    at = data.draw(st.integers(0, len(text_applied()) - 1))
    length = data.draw(st.integers(1, 3000))
    octet = data.draw(st.sampled_from(["\0", "\n", "}", "7", "\ufffd"]))
    never_lies(lambda text: text[:at] + octet * len(text[at : at + length]) + text[at + length :])


def test_rollback_reboot_still_due_after_our_own_fails() -> None:
    host = applied()
    host.boot_loader.keeps_words = True
    undone = roll_back(host)
    assert undone.reboot_due
    assert undone.failed


def test_rollback_reports_how_many_settings_are_back() -> None:
    undone = roll_back(applied())
    assert not undone.failed
    assert undone.put_back == undone.settings == len({r.name for r in undone.results})
