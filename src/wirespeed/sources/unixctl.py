# SPDX-License-Identifier: Apache-2.0
"""Call Open vSwitch's control socket: JSON-RPC 1.0 over a unix socket (ovs-appctl(8))."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from typing import Any

from wirespeed.model.input.bounded import BeyondBounds, load_json
from wirespeed.remote.interface import Connection, Runner
from wirespeed.sources.errors import NoAnswer, Refused

_TIMEOUT_S = 10.0


def call(
    runner: Runner, path: str, method: str, *params: str, timeout_s: float = _TIMEOUT_S
) -> str:
    """Return the text that the command answers. Raises NoAnswer on an error or without answer."""
    return str(request(runner, path, method, params, timeout_s))


def request(
    runner: Runner,
    path: str,
    method: str,
    params: Sequence[object],
    timeout_s: float = _TIMEOUT_S,
) -> Any:
    """Return the result of a method of daemon or database (RFC 7047). Raises NoAnswer.

    timeout_s: longest wait for each piece of the answer.

    This opens a socket instead of running `ovs-appctl`: starting a program takes longer than the
    answer, and a trial waits for several.
    """
    text = json.dumps({"id": 0, "method": method, "params": list(params)})
    try:
        with runner.connect(path, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_s)
            connection.sendall(text.encode())
            reply = _read_object(connection)
    except OSError as fault:
        raise NoAnswer(f"Open vSwitch does not answer `{method}` on {path}: {fault}") from fault
    if reply.get("error") is not None:
        asked = " ".join(map(str, (method, *params)))
        raise Refused(f"Open vSwitch refused `{asked}`: {reply['error']}")
    return reply["result"]


def _read_object(connection: Connection) -> dict[str, object]:
    """Read the one JSON object of the answer; only its closing brace marks its end."""
    received = b""
    while chunk := connection.recv(1 << 16):
        received += chunk
        try:
            parsed = load_json(received)
        except BeyondBounds as fault:
            raise OSError(str(fault)) from None
        except ValueError:  # incomplete, perhaps within a character
            continue
        if isinstance(parsed, dict):
            return parsed
    raise OSError("the connection ended in the middle of the answer")
