# SPDX-License-Identifier: Apache-2.0
"""Test that endless answers, outputs and files are read up to a limit, and named in the error."""

from __future__ import annotations

import errno
import os
import socket
import sys
from pathlib import Path

import pytest

from tests.hosts.fake_runner import FakeRunner
from wirespeed.host.reader import Reader
from wirespeed.remote import agent
from wirespeed.remote.interface import RemoteError, Runner
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.ssh import SshRunner
from wirespeed.remote.ssh_connection import SshConnection
from wirespeed.remote.ssh_held import Held

ENDLESS = [sys.executable, "-c", "import os\nwhile True: os.write(1, b'x' * 65536)"]


def test_ask_answer_without_newline_is_refused() -> None:
    held = Held(ENDLESS, agent.STILL_HERE)
    with pytest.raises(RemoteError, match="without an end"):
        held.ask(b"{}\n", 60.0)
    held.let_go()
    held.ended(5.0)


def test_answer_first_line_without_newline_is_refused() -> None:
    held = Held(ENDLESS, agent.STILL_HERE)
    with pytest.raises(RemoteError, match="without an end"):
        held.answer(60.0)
    held.let_go()
    held.ended(5.0)


def test_answer_leaves_octets_after_its_line_to_others() -> None:
    held = Held(["printf", '{"ready": 1}\nfor another reader'], agent.STILL_HERE)
    assert held.answer(60.0) == {"ready": 1}
    assert held.socket.recv(100, socket.MSG_WAITALL) == b"for another reader"
    assert held.answer(60.0) is None
    held.let_go()
    held.ended(60.0)


def test_relayed_message_of_4_gib_is_refused() -> None:
    near, far = socket.socketpair()
    with far:
        far.sendall(agent.LENGTH.pack(0xFFFFFFFF))
        with (
            SshConnection(near, lambda: None, near.close, relayed=True) as connection,
            pytest.raises(RemoteError, match="4294967295 octets"),
        ):
            connection.recv(10)


LOUD = ["sh", "-c", "exec cat /dev/zero >&$0"]


@pytest.mark.parametrize("output", ["1", "2"])
def test_local_run_endless_output_is_ended(output: str) -> None:
    with pytest.raises(RemoteError, match=r"`sh .* printed more than 16 MiB; it was ended"):
        LocalRunner().run([*LOUD, output], timeout_s=600.0)


@pytest.mark.parametrize("output", ["1", "2"])
def test_ssh_run_endless_output_is_ended(either: SshRunner, output: str) -> None:
    with pytest.raises(RemoteError, match=r"box.* printed more than 16 MiB"):
        either.run([*LOUD, output], timeout_s=600.0)
    assert either.run(["printenv", "PATH"]).exit_code == 0


def endless_file(tmp_path: Path) -> str:
    path = tmp_path / "large"
    with path.open("wb") as file:
        os.truncate(file.fileno(), 1 << 40)
    return str(path)


def test_read_endless_file_is_refused(ssh: SshRunner, tmp_path: Path) -> None:
    path = endless_file(tmp_path)
    runner: Runner
    for runner in (LocalRunner(), ssh):
        with pytest.raises(OSError, match="File too large") as refused:
            runner.read(path)
        assert refused.value.errno == errno.EFBIG
        assert isinstance(runner.read_many([path])[path], OSError)


def test_reader_endless_file_is_a_missing_fact() -> None:
    too_large = OSError(errno.EFBIG, "File too large", "/proc/x")
    reader = Reader(FakeRunner(files={"/proc/x": too_large}))
    assert reader.text("/proc/x", "kernel") is None
    assert [(m.fact, m.reason) for m in reader.missing] == [
        ("kernel", "/proc/x is too large to be the kernel's: File too large")
    ]


def test_held_endless_errors_of_the_client_are_cut_off() -> None:
    loud = [sys.executable, "-c", "import os\nwhile True: os.write(2, b'x' * 65536)"]
    held = Held(loud, agent.STILL_HERE)
    held.let_go()
    code, said = held.ended(60.0)
    assert code < 0
    assert len(said) <= 1 << 18


def test_run_passes_input_longer_than_a_pipe_and_counts_what_nobody_reads() -> None:
    text = "line\n" * 100_000
    assert LocalRunner().run(["cat"], stdin=text).stdout == text
    assert LocalRunner().run(["true"], stdin=text).exit_code == 0
