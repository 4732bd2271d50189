# SPDX-License-Identifier: Apache-2.0
"""Query a DPDK program over its telemetry socket (JSON over SOCK_SEQPACKET)."""

from __future__ import annotations

import socket
from typing import Any

from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import Runner
from wirespeed.sources.errors import NoAnswer, Refused

# Largest answer of rte_telemetry, in octets (docs/reference/wsdp.md).
_MAX_REPLY = 16 * 1024


class Telemetry:
    """One connection. DPDK serves it on a separate thread, off the lcores."""

    def __init__(self, runner: Runner, path: str, timeout_s: float = 10.0) -> None:
        """Connect. Raises OSError while nobody listens yet."""
        self._path = path
        self._socket = runner.connect(path, socket.SOCK_SEQPACKET)
        self._socket.settimeout(timeout_s)
        self._greeting = self._socket.recv(_MAX_REPLY)

    @property
    def pid(self) -> int:
        """Process that serves the socket, as its greeting says. Raises NoAnswer."""
        try:
            return int(load_json(self._greeting)["pid"])
        except (ValueError, KeyError, TypeError) as fault:
            raise NoAnswer(f"the greeting of {self._path} names no process: {fault}") from fault

    def ask(self, command: str) -> Any:
        """Return the answer to one command.

        Raises NoAnswer when the program rejects it or does not answer.
        """
        try:
            self._socket.sendall(command.encode())
            reply = load_json(self._socket.recv(_MAX_REPLY))
        except (OSError, ValueError) as fault:
            raise NoAnswer(f"no answer to {command} on {self._path}: {fault}") from fault
        if not isinstance(reply, dict):
            raise NoAnswer(f"the answer to {command} on {self._path} is no JSON object")
        answer = reply.get(command.partition(",")[0])
        if isinstance(answer, dict) and "error" in answer:
            raise Refused(f"the program on {self._path} refused {command}: {answer['error']}")
        if answer is None:
            raise Refused(f"{command} is not known to the program on {self._path}")
        return answer

    def close(self) -> None:
        self._socket.close()
