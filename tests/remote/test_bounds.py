# SPDX-License-Identifier: Apache-2.0
"""What another host says without an end is not read without an end."""

from __future__ import annotations

import socket
import sys

import pytest

from wirespeed.remote import agent
from wirespeed.remote.interface import RemoteError
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


def test_relayed_message_of_4_gib_is_refused() -> None:
    near, far = socket.socketpair()
    with far:
        far.sendall(agent.LENGTH.pack(0xFFFFFFFF))
        with (
            SshConnection(near, lambda: None, near.close, relayed=True) as connection,
            pytest.raises(RemoteError, match="4294967295 octets"),
        ):
            connection.recv(10)
