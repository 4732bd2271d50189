# SPDX-License-Identifier: Apache-2.0
"""Run an iperf3 client with an injected fault, to test the verdict on what limits a transfer.

Run as a program: `python faulty_client.py '{"server": "198.18.0.1", ...}'` with the fields of
`Fault`; prints the server's own JSON of the test. The protocol is iperf3's: a cookie of 37 octets,
states of one octet, JSON after its length in four octets.
"""

from __future__ import annotations

import json
import resource
import secrets
import socket
import struct
import sys
import time
from dataclasses import dataclass
from typing import Any

PARAM_EXCHANGE, CREATE_STREAMS, TEST_START, TEST_RUNNING = 9, 10, 1, 2
TEST_END, EXCHANGE_RESULTS, DISPLAY_RESULTS, IPERF_DONE = 4, 13, 14, 16
BLOCK = 128 * 1024


@dataclass(frozen=True)
class Fault:
    """Settings of the client."""

    server: str
    port: int
    seconds: float
    congestion: str
    reverse: bool
    """True if the server sends."""
    rcvbuf: int = 0
    """SO_RCVBUF of the client."""
    window: int = 0
    """SO_SNDBUF and SO_RCVBUF that the server is asked to set."""
    pace_bps: float = 0.0
    """Rate at which the client reads or writes; 0: full speed."""


def exactly(connection: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        if not (chunk := connection.recv(count - len(got))):
            raise SystemExit("the server closed the connection")
        got += chunk
    return got


def await_state(control: socket.socket, *wanted: int) -> int:
    while (state := exactly(control, 1)[0]) not in wanted:
        if state not in (TEST_START, TEST_RUNNING):
            raise SystemExit(f"the server said {state} instead of {wanted}")
    return state


def say(control: socket.socket, message: dict[str, Any]) -> None:
    text = json.dumps(message).encode()
    control.sendall(struct.pack("!I", len(text)) + text)


def hear(control: socket.socket) -> dict[str, Any]:
    [length] = struct.unpack("!I", exactly(control, 4))
    heard: dict[str, Any] = json.loads(exactly(control, length))
    return heard


def connect(fault: Fault, *, data: bool) -> socket.socket:
    made = socket.socket()
    if data and fault.rcvbuf:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, fault.rcvbuf)
    if data:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, fault.congestion.encode())
    made.connect((fault.server, fault.port))
    return made


def transfer(stream: socket.socket, fault: Fault) -> int:
    """Read or write until the time is up, at the fault's pace; return the octets moved."""
    block = bytes(BLOCK)
    began = time.monotonic()
    moved = 0
    stream.settimeout(0.1)
    while (elapsed := time.monotonic() - began) < fault.seconds:
        if fault.pace_bps and moved * 8 > elapsed * fault.pace_bps:
            time.sleep(0.002)
            continue
        try:
            moved += len(stream.recv(BLOCK)) if fault.reverse else stream.send(block)
        except TimeoutError:
            continue
    return moved


def run(fault: Fault) -> dict[str, Any]:
    cookie = secrets.token_hex(18).encode() + b"\0"
    control = connect(fault, data=False)
    control.sendall(cookie)
    await_state(control, PARAM_EXCHANGE)
    params = {"tcp": True, "omit": 0, "time": max(1, round(fault.seconds)), "parallel": 1,
              "len": BLOCK, "congestion": fault.congestion, "get_server_output": 1,
              "client_version": "faulty"}  # fmt: skip
    params |= {"reverse": True} if fault.reverse else {}
    params |= {"window": fault.window} if fault.window else {}
    say(control, params)
    await_state(control, CREATE_STREAMS)
    stream = connect(fault, data=True)
    stream.sendall(cookie)
    await_state(control, TEST_RUNNING)
    began, cpu_before = time.monotonic(), sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    moved = transfer(stream, fault)
    used_s = sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - cpu_before
    elapsed_s = time.monotonic() - began
    control.sendall(bytes([TEST_END]))
    await_state(control, EXCHANGE_RESULTS)
    result = {"id": 1, "bytes": moved, "retransmits": -1, "jitter": 0, "errors": 0, "packets": 0,
              "start_time": 0, "end_time": elapsed_s}  # fmt: skip
    cpu = 100 * used_s / elapsed_s
    say(control, {"cpu_util_total": cpu, "cpu_util_user": cpu, "cpu_util_system": 0,
                  "sender_has_retransmits": -1, "streams": [result]})  # fmt: skip
    theirs = hear(control)
    await_state(control, DISPLAY_RESULTS)
    control.sendall(bytes([IPERF_DONE]))
    output: dict[str, Any] = theirs["server_output_json"]
    return output


if __name__ == "__main__":
    print(json.dumps(run(Fault(**json.loads(sys.argv[1])))))
