# SPDX-License-Identifier: Apache-2.0
"""Check that no control character of a foreign document reaches the terminal, for every verb.

Each string of each document gets the payload in turn. A reader that rejects it is as good as a
table that escapes it: both print, and both outputs are checked.
"""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.carried_out import replies
from tests.support.examples import example_host, example_plan
from tests.unit.cli.conftest import Command, Ended
from tests.unit.cli.hostile import PAYLOAD, poisoned, raw, string_leaves
from wirespeed.cloud.collect import collect
from wirespeed.cloud.file import CLOUD_FILE
from wirespeed.cloud.recording import RecordingApi

EXAMPLE = Path(__file__).parents[3] / "examples" / "s2-chains"


def document(name: str) -> Any:
    return json.loads((EXAMPLE / name).read_text(encoding="utf-8"))


def checked(ended: Ended, what: object, codes: tuple[int, ...] = (0, 1, 2)) -> Ended:
    assert raw(ended.out) == "", what
    assert raw(ended.err) == "", what
    assert ended.code in codes, (what, ended.err)
    return ended


def checked_json(ended: Ended, what: object) -> None:
    if checked(ended, what).code != 2:
        json.loads(ended.out)


def shown_hosts(wirespeed: Command, file: str, what: object) -> None:
    checked(wirespeed("inspect", "--host", file), what)
    checked_json(wirespeed("inspect", "--host", file, "--json"), what)
    checked(wirespeed("audit", "--host", file, "--all"), what)
    for form in ("json", "sarif"):
        checked_json(wirespeed("audit", "--host", file, "--format", form), what)
    checked(wirespeed("audit", "--host", file, "--format", "html"), what)
    snapshot = wirespeed("fleet", "snapshot", "--host", file, "-o", "fleet/one.json")
    if checked(snapshot, what).code == 0:
        store = ("--store", "fleet.sqlite")
        checked(wirespeed("fleet", "add", "fleet", *store), what)
        checked(wirespeed("fleet", "show", *store), what)
        checked_json(wirespeed("fleet", "show", "--json", *store), what)
        checked_json(wirespeed("fleet", "hosts", *store), what)
        Path("fleet.sqlite").unlink()


def shown_plans(wirespeed: Command, file: str, what: object) -> None:
    checked(wirespeed("plan", "show", file), what)
    checked(wirespeed("plan", "show", file, "--why"), what)
    checked_json(wirespeed("plan", "show", file, "--json"), what)
    other = str(EXAMPLE / "plan.json")
    checked(wirespeed("plan", "diff", other, file), what)
    checked_json(wirespeed("plan", "diff", other, file, "--json"), what)
    checked(wirespeed("plan", "render", file, "-o", "rendered"), what)
    checked(wirespeed("predict", file), what)


def shown_clouds(wirespeed: Command, file: str, what: object) -> None:
    checked(wirespeed("inspect", "--openstack", file), what)
    checked_json(wirespeed("inspect", "--openstack", file, "--json"), what)
    checked(wirespeed("plan", "diff", str(EXAMPLE / "plan.json"), "--openstack", file), what)


Shown = Callable[[Command, str, object], None]


def fuzzed(wirespeed: Command, original: Any, shown: Shown) -> int:
    """Show the document once for each of its strings, poisoned; return their number."""
    paths = list(string_leaves(original))
    for path in paths:
        Path("hostile.json").write_text(json.dumps(poisoned(original, path)), encoding="utf-8")
        shown(wirespeed, "hostile.json", path)
    return len(paths)


def test_host_document_with_payload_prints_no_control_character(wirespeed: Command) -> None:
    assert fuzzed(wirespeed, document("host.json"), shown_hosts) >= 40


def test_host_document_memory_beyond_64_bits_is_refused(wirespeed: Command) -> None:
    host = document("host.json")
    host["nodes"][0]["memory_kib"] = 10**400
    Path("h.json").write_text(json.dumps(host), encoding="utf-8")
    for words in ("inspect", "audit"):
        ended = wirespeed(words, "--host", "h.json")
        assert (ended.code, ended.out) == (2, ""), words
        assert "more than 64 bits" in ended.err, words


def test_plan_document_with_payload_prints_no_control_character(wirespeed: Command) -> None:
    assert fuzzed(wirespeed, document("plan.json"), shown_plans) >= 50


def test_cloud_document_with_payload_prints_no_control_character(wirespeed: Command) -> None:
    plan = example_plan("s2-chains")
    cloud = collect(RecordingApi(replies(plan, [example_host("s2-chains")])))
    assert fuzzed(wirespeed, CLOUD_FILE.document(cloud), shown_clouds) >= 30


TEXT_COLUMNS = {
    "runs": ("title", "description", "resolved", "command", "versions", "host"),
    "points": ("label", "parameters", "spec", "plan", "sut", "explanations"),
}


def poison_column(store: Path, table: str, column: str) -> int:
    """Append the payload to the column's text, or to each string value of its JSON."""
    changed = 0
    with sqlite3.connect(store) as database:
        rows = database.execute(f"SELECT rowid, {column} FROM {table}").fetchall()  # noqa: S608
        for row, value in rows:
            if value in (None, "null"):
                continue
            new = value + PAYLOAD
            if value[:1] in "{[":
                new = json.loads(value)
                for path in string_leaves(new):
                    if path[-1] not in ("kind", "host"):
                        new = poisoned(new, path)
                        break
                new = json.dumps(new)
            database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, row))  # noqa: S608
            changed += 1
    database.close()
    return changed


SHOWING = (
    "runs", "runs --json", "report latest --csv", "report latest --json",
    "report latest --html r.html", "explain latest", "explain latest --json",
    "compare wire-1 wire-2", "compare wire-1 wire-2 --json",
)  # fmt: skip


@pytest.mark.parametrize("place", [(t, c) for t, columns in TEXT_COLUMNS.items() for c in columns])
def test_store_with_payload_prints_no_control_character(
    wirespeed: Command, tmp_path: Path, place: tuple[str, str]
) -> None:
    assert wirespeed("run", "wire").code == 0
    assert wirespeed("run", "wire").code == 0
    assert poison_column(tmp_path / "runs.sqlite", *place)
    # A run with malformed texts is named, and the command ends with 1.
    for words in SHOWING:
        ended = checked(wirespeed(*words.split()), (place, words), (0, 1, 2))
        if "--json" in words and ended.out:
            json.loads(ended.out)


def test_study_with_payload_prints_no_control_character(wirespeed: Command) -> None:
    text = json.dumps(f"[red]{PAYLOAD}").replace("\x7f", "\\u007f")
    Path("s.toml").write_text(f'title = {text}\ndescription = {text}\n[topology]\nkind = "wire"\n')
    for words in (["study", "show", "s.toml"], ["run", "s.toml"], ["run", "s.toml", "-v"]):
        ended = checked(wirespeed(*words), words)
        assert (ended.code, "title" in ended.err) == (2, True)


def on_terminal(words: list[str], folder: Path) -> str:
    """Return what the command prints on a terminal."""
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "wirespeed.cli.main", *words]
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    process = subprocess.Popen(argv, stdout=theirs, stderr=theirs, cwd=folder, env=env)
    os.close(theirs)
    printed = bytearray()
    try:
        while data := os.read(ours, 65536):
            printed += data
    except OSError:
        pass  # EIO: the program has ended
    finally:
        os.close(ours)
        process.wait()
    return printed.decode("utf-8")


@pytest.mark.parametrize(
    ("name", "verbs"),
    [
        ("host.json", ("inspect --host", "inspect --json --host", "audit --host")),
        ("plan.json", ("plan show", "plan show --why", "plan show --json")),
    ],
)
def test_terminal_gets_no_control_character_of_a_document(
    tmp_path: Path, name: str, verbs: tuple[str, ...]
) -> None:
    found = document(name)
    place = ("host",) if name == "host.json" else ("hosts", 0, "host")
    (tmp_path / "hostile.json").write_text(json.dumps(poisoned(found, place)), encoding="utf-8")
    for words in verbs:
        printed = on_terminal([*words.split(), "hostile.json"], tmp_path)
        assert raw(printed) == "", words
        assert "]52;c" in printed, words
