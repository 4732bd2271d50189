# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.fake_rig import FakeHost
from wirespeed.cli.main import main
from wirespeed.session import rig


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    """Replace the machine that `run` measures by a SUT of known capacity, which takes no time."""
    fake = FakeHost(capacity_fps=3e6)
    monkeypatch.setattr(rig, "local_rig", lambda: fake.rig)
    return fake


@pytest.fixture
def wirespeed(
    host: FakeHost,  # noqa: ARG001 - so that no test measures the real machine by mistake
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Command]:
    """Return a command in this process, with its own store and its own directory."""
    monkeypatch.setenv("WIRESPEED_STORE", str(tmp_path / "runs.sqlite"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}

    def command(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["wirespeed", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return Ended(int(end.value.code or 0), said.out, said.err)

    yield command
    for number, handler in before.items():
        signal.signal(number, handler)
