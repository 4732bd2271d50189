# SPDX-License-Identifier: Apache-2.0
"""Keep a setting of this machine, killed at every change; rollback restores it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.effort import effort
from wirespeed.apply.journal import FOLDER

STAT = Path("/proc/sys/vm/stat_interval")
SWAP = Path("/proc/sys/vm/dirty_expire_centisecs")

# Tells each change on a line of its own before it makes it.
CHILD = """
import sys
from contextlib import contextmanager
from wirespeed.apply.keep import Proven, keep
from wirespeed.remote.local import LocalRunner

class Telling(LocalRunner):
    def write(self, path, text):
        print("write", path, flush=True)
        super().write(path, text)

    def run(self, argv, **options):
        print("run", *argv, flush=True)
        return super().run(argv, **options)

@contextmanager
def reach(address, *, sudo=False):
    yield Telling()

files = dict(zip(sys.argv[1::2], sys.argv[2::2]))
keep(reach, "localhost", [Proven(path, {path: text}, "of a test") for path, text in files.items()])
"""


@pytest.fixture(autouse=True)
def _own_journal() -> None:
    if Path(FOLDER).exists():
        pytest.skip(f"{FOLDER} exists: a plan was applied to this machine")


def wanted() -> list[str]:
    return [word for file in (STAT, SWAP) for word in (str(file), str(int(file.read_text()) + 1))]


def state() -> tuple[str, str]:
    return STAT.read_text(), SWAP.read_text()


def roll_back() -> None:
    """Undo all settings. Other facts of this machine may change meanwhile, so they do not count."""
    command = [sys.executable, "-m", "wirespeed.cli.main", "rollback", "--host", "localhost"]
    done = subprocess.run([*command, "--json"], stdout=subprocess.PIPE, text=True, check=False)
    undone = json.loads(done.stdout)
    assert undone["put_back"] == undone["settings"]
    assert not undone["not_undone"]


def test_keep_on_this_machine_is_undone_by_rollback() -> None:
    before = state()
    subprocess.run([sys.executable, "-c", CHILD, *wanted()], stdout=subprocess.PIPE, check=True)
    assert state() != before
    roll_back()
    assert state() == before
    assert not Path(FOLDER).exists()


@pytest.mark.fleet
def test_keep_killed_at_every_change_is_undone_by_rollback() -> None:
    before = state()
    complete = False
    killed = 0
    while not complete:
        killed += effort(4, 1)
        command = [sys.executable, "-c", CHILD, *wanted()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [line for line, _ in zip(process.stdout, range(killed), strict=False)]
            process.send_signal(signal.SIGKILL)
            process.wait()
            complete = len(lines) < killed
        roll_back()
        assert state() == before, (killed, lines)
        assert not Path(FOLDER).exists()
    assert killed > 10
