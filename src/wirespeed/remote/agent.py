# SPDX-License-Identifier: Apache-2.0
"""What does a host do for us for longer than one command: run a child, hold a lock, relay messages?

Local code calls these functions. To another host the text of this file is sent, for its python3
(3.9 or newer) to run: so it imports nothing of ours. There, whoever asked is heard on standard
input. When that ends, or nothing comes for SILENCE_S, the connection is broken: sshd notices a
closed one, but not a cut one, for hours.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

SILENCE_S = 15.0
# A message of the relay, and in front of it its length. An empty one only says: still here.
LENGTH = struct.Struct(">I")
MESSAGE_MAX = 1 << 20
# An answer of an agent is one line, with at most this many octets.
ANSWER_MAX = 64 << 20
# What a child's or a lock's standard input says: still here; any other octet is a signal's number.
STILL_HERE = b"\0"

_PR_SET_PDEATHSIG = 1
# Loaded before any fork: between fork and exec nothing may be imported or allocated lazily.
_LIBC = ctypes.CDLL(None, use_errno=True)


def start_child(
    argv: Sequence[str],
    log: str,
    env: Mapping[str, str] | None,
    cpus: Collection[int],
    nice: int | None,
) -> subprocess.Popen[bytes]:
    """A child that dies with the thread that calls this; its output is appended to the file `log`.

    It is in a session of its own: a Ctrl-C at the terminal does not reach it. env adds to ours.
    Raises OSError when it cannot be started, SubprocessError when it cannot be given cpus or nice.
    """
    with open(log, "ab") as sink:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            env=None if env is None else {**os.environ, **env},
            start_new_session=True,
            # It only makes system calls, so a thread's lock cannot be waited for.
            preexec_fn=in_child(os.getpid(), frozenset(cpus), nice),  # noqa: PLW1509
        )


def in_child(
    parent: int, cpus: frozenset[int] = frozenset(), nice: int | None = None
) -> Callable[[], None]:
    """What a child does before it is its program: it dies with the thread that started it."""

    def prepare() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:  # the parent died before prctl took effect
            os._exit(1)
        if cpus:
            os.sched_setaffinity(0, cpus)
        if nice is not None:
            os.setpriority(os.PRIO_PROCESS, 0, nice)

    return prepare


def take_lock(path: str) -> int:
    """Wait for the lock on a file, made if need be; closing the descriptor releases it."""
    flags = os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


# --- on another host: one of these is the whole program


def hold_child(
    argv: list[str], log: str, env: dict[str, str] | None, cpus: list[int], nice: int | None
) -> None:
    """Say the child's pid, then its exit code; it is killed when nobody is heard any more."""
    child = start_child(argv, log, env, cpus, nice)
    say(pid=child.pid)
    for piece in heard(os.pidfd_open(child.pid)):
        if piece is None:
            break
        for number in piece.replace(STILL_HERE, b""):
            child.send_signal(number)
    if child.poll() is None:
        child.kill()
    say(code=child.wait())


def hold_lock(path: str) -> None:
    """Say when the lock is taken; it is held for as long as somebody is heard."""
    take_lock(path)
    say()
    for _ in heard():
        pass


def relay(path: str) -> None:
    """Pass messages between standard input and output and a unix socket of SOCK_SEQPACKET."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as far:
        far.connect(path)
        say()
        pending = b""
        for piece in heard(far.fileno()):
            if piece is None:
                message = far.recv(MESSAGE_MAX)
                if not message:
                    return
                _write(LENGTH.pack(len(message)) + message)
                continue
            pending += piece
            while len(pending) >= LENGTH.size:
                end = LENGTH.size + LENGTH.unpack_from(pending)[0]
                if len(pending) < end:
                    break
                if end > LENGTH.size:
                    far.send(pending[LENGTH.size : end])
                pending = pending[end:]


def heard(other: int | None = None) -> Iterator[bytes | None]:
    """What comes on standard input; None whenever the other descriptor is readable.

    Ends when standard input does, or is silent for too long.
    """
    poller = select.poll()
    poller.register(0, select.POLLIN)
    if other is not None:
        poller.register(other, select.POLLIN)
    while ready := dict(poller.poll(SILENCE_S * 1000)):
        if 0 in ready:
            piece = os.read(0, 1 << 16)
            if not piece:
                return
            yield piece
        if other in ready:
            yield None


def say(**words: object) -> None:
    """One line of JSON to whoever asked."""
    _write(json.dumps(words).encode() + b"\n")


def _write(message: bytes) -> None:
    rest = memoryview(message)
    while rest:
        rest = rest[os.write(1, rest) :]


def main() -> None:
    """Do what the one argument says. What cannot be is said on the first line of the output."""
    wanted: dict[str, Any] = json.loads(sys.argv[2])
    does: dict[str, Callable[..., None]] = {
        "child": hold_child,
        "lock": hold_lock,
        "relay": relay,
    }
    try:
        does[wanted.pop("do")](**wanted)
    except OSError as fault:
        say(errno=fault.errno, file=fault.filename)
    except subprocess.SubprocessError as fault:
        say(refused=str(fault))
