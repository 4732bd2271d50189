# SPDX-License-Identifier: Apache-2.0
"""Check `wirespeed live` from the outside: what it names, bad input, its token, its address."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.unit.cli.conftest import Command
from tests.unit.live.sample_recording import make
from wirespeed.store.store import Store

LIVE = (sys.executable, "-m", "wirespeed.cli.main", "live", "--listen", "127.0.0.1:0")


@pytest.fixture
def store(wirespeed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the store of the commands, with a recording and a run without one."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    path = tmp_path / "runs.sqlite"
    with Store(str(path)) as opened:
        make(opened, until=3)
    assert wirespeed("run", "wire", "--quiet").code == 0
    return path


@contextmanager
def started(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen([*LIVE, *words], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


def get(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:  # noqa: S310
        content: bytes = answer.read()
    return content


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kpi-9"], "recording 'kpi-9': not in"),
        (["wire-1"], "run wire-1: no recording was made next to it"),
        (["kpi-1", "--with", "kpi-9"], "recording 'kpi-9': not in"),
        (["--listen", "nowhere"], "not an address and a port"),
        (["--listen", "0.0.0.0:0"], "others can reach this address"),
        (["none.html"], "none.html cannot be read"),
    ],
)
@pytest.mark.usefixtures("store")
def test_bad_input_is_one_sentence_and_ends_with_2(
    wirespeed: Command, words: list[str], said: str
) -> None:
    ended = wirespeed("live", *words)
    assert ended.code == 2
    assert said in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("content", ["short\n", "x" * 200, "with space in it, and long\n"])
@pytest.mark.usefixtures("store")
def test_token_file_that_is_none_ends_with_2(
    wirespeed: Command, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "home" / "wirespeed" / "live-token"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    ended = wirespeed("live")
    assert ended.code == 2
    assert "no token" in ended.err


def test_port_in_use_ends_with_2(wirespeed: Command, store: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = wirespeed("live", "--store", str(store), "--listen", f"127.0.0.1:{port}")
    assert ended.code == 2
    assert "cannot be used: Address already in use" in ended.err


@pytest.mark.usefixtures("store")
def test_live_serves_the_newest_recording_until_a_signal(tmp_path: Path) -> None:
    with started() as (process, url):
        assert b'"kpi-1"' in get(f"{url}recordings")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            get(url.rsplit("/", 2)[0] + "/")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    token = tmp_path / "home" / "wirespeed" / "live-token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert token.read_text().strip() in url


@pytest.mark.usefixtures("store")
def test_exported_file_is_served_without_a_store(wirespeed: Command, tmp_path: Path) -> None:
    file = tmp_path / "x.html"
    assert wirespeed("kpi", "export", "--html", str(file)).code == 0
    environment = {**os.environ, "WIRESPEED_STORE": "/nowhere/none.sqlite"}
    process = subprocess.Popen(
        [*LIVE, str(file)], stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found
        assert b"(x.html)" in get(f"{found[0]}about")
    finally:
        process.kill()
        process.communicate()


def test_store_of_a_newer_wirespeed_ends_with_1(wirespeed: Command, store: Path) -> None:
    with Store(str(store)) as opened, opened.transaction() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    ended = wirespeed("live")
    assert ended.code == 1
    assert "which a newer wirespeed made" in ended.err
