# SPDX-License-Identifier: Apache-2.0
"""Check that readers of foreign texts refuse those too long or too deep, with their own errors."""

from __future__ import annotations

import json
import socket
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import JSON, column, text

from wirespeed.document.journal_lines import read_lines, sealed
from wirespeed.fleet.border import read_members
from wirespeed.lab.errors import LabError
from wirespeed.lab.node import Node
from wirespeed.model.errors import BadInput
from wirespeed.model.input import bounded
from wirespeed.model.input.bounded import MAX_DEPTH, BeyondBounds, load_json, load_toml, load_yaml
from wirespeed.sources.errors import NoAnswer
from wirespeed.sources.telemetry import Telemetry
from wirespeed.sources.unixctl import _read_object
from wirespeed.store.sqlite_file import reading_engine, writing_engine

DEEP = "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)
DEEPEST = "[" * MAX_DEPTH + "]" * MAX_DEPTH
ENDLESS = "[" * 200_000
LIMIT = 100
LONG = json.dumps(["x" * LIMIT])


@pytest.fixture(params=[DEEP, ENDLESS, LONG], ids=["deep", "endless", "long"])
def beyond(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a text beyond the bounds; the long text gets a small bound on the size."""
    if request.param == LONG:
        monkeypatch.setattr(bounded, "MAX_CHARACTERS", LIMIT)
    return str(request.param)


def test_load_json_and_toml_beyond_the_bounds_are_refused(beyond: str) -> None:
    with pytest.raises(BeyondBounds, match=r"nested deeper than 64 levels|at most 100 are read"):
        load_json(beyond)
    with pytest.raises(BeyondBounds, match=r"nested deeper than 64 levels|at most 100 are read"):
        load_toml(f"a = {beyond}")


def test_load_json_at_the_bounds_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MAX_CHARACTERS", len(DEEPEST))
    assert json.dumps(load_json(DEEPEST)) == DEEPEST


def test_journal_record_beyond_the_bounds_is_damaged(beyond: str) -> None:
    line = sealed(1, {"x": 1}).replace('"x": 1', f'"x": {beyond}')
    body = line[: line.index(', "crc32"')]
    checked = f'{body}, "crc32": "{zlib.crc32(body.encode()):08x}"}}\n'
    assert read_lines(checked, complete=1).damaged == ["line 1 is damaged"]
    assert read_lines(f'{{"x": {beyond}}}\n', complete=1).damaged == ["line 1 is damaged"]


def test_members_beyond_the_bounds_are_refused(beyond: str) -> None:
    with pytest.raises(BadInput, match=r"members.json is not JSON"):
        read_members(beyond, "members.json")


def test_node_file_beyond_the_bounds_is_refused(beyond: str, tmp_path: Path) -> None:
    (tmp_path / "node.json").write_text(f'{{"spec": {beyond}}}')
    with pytest.raises(LabError, match=r"node.json: "):
        Node.load(tmp_path)


def answered(reply: bytes, ask: Callable[[socket.socket], Any]) -> Any:
    """Return the result of `ask` on a peer that greets and answers one question with the reply."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def serve() -> None:
        theirs.send(b"{}")
        theirs.recv(100)
        theirs.send(reply)

    peer = threading.Thread(target=serve)
    peer.start()
    try:
        return ask(ours)
    finally:
        peer.join()
        ours.close()
        theirs.close()


def test_telemetry_answer_beyond_the_bounds_is_refused(beyond: str) -> None:
    def ask(ours: socket.socket) -> Any:
        return Telemetry(SimpleNamespace(connect=lambda *_: ours), "/s").ask("/x")  # type: ignore[arg-type]

    with pytest.raises(NoAnswer, match="no answer to /x"):
        answered(beyond[: 16 * 1024].encode(), ask)
    with pytest.raises(NoAnswer, match="no JSON object"):
        answered(b"[1]", ask)
    assert answered(b'{"/x": {"a": 1}}', ask) == {"a": 1}


def test_rpc_answer_beyond_the_bounds_ends_the_call(beyond: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        writer = threading.Thread(target=lambda: (theirs.sendall(beyond.encode()), theirs.close()))
        writer.start()
        with pytest.raises(OSError, match=r"nested deeper|at most|ended in the middle"):
            _read_object(ours)  # type: ignore[arg-type]
        ours.close()
        writer.join()


def test_store_value_beyond_the_bounds_is_refused(beyond: str, tmp_path: Path) -> None:
    engine = writing_engine(tmp_path / "s.sqlite")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t (v JSON)"))
        connection.execute(text("INSERT INTO t VALUES (:v)"), {"v": beyond})
    statement = text("SELECT v FROM t").columns(column("v", JSON))
    for opened in (engine, reading_engine(tmp_path / "s.sqlite")):
        with opened.begin() as connection, pytest.raises(BeyondBounds):
            connection.execute(statement).all()


def test_load_yaml_makes_strings_and_nulls() -> None:
    text = 'a: null\nb: ~\nc:\nd: "null"\ne: no\nf: [NULL, 1.0, 0x10, ""]\n'
    found = {
        "a": None,
        "b": None,
        "c": None,
        "d": "null",
        "e": "no",
        "f": [None, "1.0", "0x10", ""],
    }
    assert load_yaml(text) == found
