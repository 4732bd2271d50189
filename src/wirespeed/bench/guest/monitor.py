# SPDX-License-Identifier: Apache-2.0
"""Ask a running QEMU by its monitor (QMP, docs/interop/qmp-spec.rst of QEMU). It reads only."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any

from wirespeed.bench.interface import BenchError
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import Connection, Runner

# QEMU's main thread answers, which does not carry frames of a vhost-user port.
_TIMEOUT_S = 10.0
_QUERIES = (
    "query-status", "query-cpus-fast", "query-iothreads", "query-memory-size-summary",
    "query-migrate", "query-rx-filter", "query-chardev",
)  # fmt: skip
_FILTER = ("main-mac", "promiscuous", "multicast", "unicast", "broadcast-allowed", "vlan")
# Prefix of libvirt's names of the sockets to a vhost-user switch.
_NIC_SOCKET = "charnet"
_DISCONNECTED = "disconnected:"


def settings(runner: Runner, path: str) -> Mapping[str, str]:
    """Return whether the guest runs, its vCPUs, memory, I/O threads and NICs. Raises BenchError."""
    status, cpus, io_threads, memory, migration, filters, sockets = ask(runner, path, *_QUERIES)
    polling = {each["id"]: str(each["poll-max-ns"]) for each in io_threads}
    return {
        "status": str(status["status"]),
        "vCPUs": str(len(cpus)),
        "memory in octets": str(memory["base-memory"] + memory.get("plugged-memory", 0)),
        "migration": str(migration.get("status", "none")),
        **{f"I/O thread {name}, poll-max-ns": value for name, value in polling.items()},
        **{
            f"NIC {each['name']}, {key}": str(each[key])
            for each in filters
            for key in _FILTER
            if key in each
        },
        **{
            f"socket {each['label']}": _state(each["filename"])
            for each in sockets
            if each["label"].startswith(_NIC_SOCKET)
        },
    }


def _state(filename: str) -> str:
    return "disconnected" if filename.startswith(_DISCONNECTED) else "connected"


def ask(runner: Runner, path: str, *commands: str) -> list[Any]:
    """Return the answers to these commands, which take no arguments. Raises BenchError."""
    wanted = ("qmp_capabilities", *commands)
    try:
        with runner.connect(path, socket.SOCK_STREAM) as connection:
            connection.settimeout(_TIMEOUT_S)
            lines = _lines(connection)
            next(lines)  # QEMU speaks first.
            found = [_answer(connection, lines, command) for command in wanted]
    except (OSError, ValueError, StopIteration) as fault:
        raise BenchError(f"QEMU does not answer on {path}: {fault!r}") from fault
    return found[1:]


def _answer(connection: Connection, lines: Iterator[bytes], command: str) -> Any:
    """Return what follows the events that come in between."""
    connection.sendall(json.dumps({"execute": command}).encode() + b"\n")
    for line in lines:
        message = load_json(line)
        if "return" in message:
            return message["return"]
        if "error" in message:
            raise ValueError(f"{command}: {message['error']}")
    raise ValueError("the connection ended")


def _lines(connection: Connection) -> Iterator[bytes]:
    rest = b""
    while chunk := connection.recv(1 << 16):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
