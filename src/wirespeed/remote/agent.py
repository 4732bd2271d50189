# SPDX-License-Identifier: Apache-2.0
"""What does a host do for us for longer than one command: run a child, hold a lock, relay messages?

Local code calls these functions. To another host the text of this file is sent, for its python3
(3.9 or newer) to run: so it imports nothing of ours. There, whoever asked is heard on standard
input. When that ends, or nothing comes for SILENCE_S, the connection is broken: sshd notices a
closed one, but not a cut one, for hours.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import select
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

SILENCE_S = 15.0
# A message of the relay, and in front of it its length. An empty one only says: still here.
LENGTH = struct.Struct(">I")
MESSAGE_MAX = 1 << 20
# An answer of an agent is one line, with at most this many octets.
ANSWER_MAX = 64 << 20
# A file, and each output of a command, is read up to this many octets.
OUTPUT_MAX = 16 << 20
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


class TooMuch(Exception):
    """A command printed more than OUTPUT_MAX octets. stderr: what was read of its errors."""

    def __init__(self, stderr: str) -> None:
        super().__init__(stderr)
        self.stderr = stderr


def run_bounded(
    argv: Sequence[str], stdin: str | None, timeout_s: float, env: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """Exit code and outputs of a command in a session of its own, which is killed as a whole.

    env: the whole environment, by default ours. Raises OSError when it cannot be started,
    subprocess.TimeoutExpired and TooMuch.
    """
    with subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=None if env is None else dict(env),
        start_new_session=True,
    ) as child:
        try:
            stdout, stderr = exchange(child, stdin, timeout_s)
        except BaseException:
            kill_session(child)
            raise
        return child.returncode, stdout, stderr


def exchange(
    child: subprocess.Popen[bytes], stdin: str | None, timeout_s: float, most: int = OUTPUT_MAX
) -> tuple[str, str]:
    """Standard output and error of a child until its end, as text of UTF-8 with "\\n" line ends.

    Popen.communicate reads without an end; this reads at most `most` octets of each. Raises
    subprocess.TimeoutExpired and TooMuch, both with `stderr`; the child runs on then.
    """
    deadline = time.monotonic() + timeout_s
    rest = memoryview((stdin or "").encode())
    pieces: dict[Any, list[bytes]] = {s: [] for s in (child.stdout, child.stderr) if s}

    def text(stream: Any) -> str:
        octets = b"".join(pieces.get(stream, []))
        return octets.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")

    with selectors.DefaultSelector() as waiting:
        for output in pieces:
            waiting.register(output, selectors.EVENT_READ)
        if child.stdin:
            waiting.register(child.stdin, selectors.EVENT_WRITE)
        while waiting.get_map():
            ready = waiting.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise subprocess.TimeoutExpired(child.args, timeout_s, stderr=text(child.stderr))
            for key, _ in ready:
                stream: Any = key.fileobj
                if stream is child.stdin:
                    rest = _written(key.fd, rest)
                    over = not rest
                else:
                    piece = os.read(key.fd, 1 << 16)
                    over = not piece
                    pieces[stream].append(piece)
                    if sum(map(len, pieces[stream])) > most:
                        raise TooMuch(text(child.stderr))
                if over:
                    waiting.unregister(stream)
                    stream.close()
    try:
        child.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise subprocess.TimeoutExpired(child.args, timeout_s, stderr=text(child.stderr)) from None
    return text(child.stdout), text(child.stderr)


def _written(descriptor: int, rest: memoryview) -> memoryview:
    """Return what is left to write; nothing where nobody reads it."""
    try:
        return rest[os.write(descriptor, rest[: select.PIPE_BUF]) :]
    except BrokenPipeError:
        return rest[:0]


def kill_session(child: subprocess.Popen[bytes]) -> None:
    """Kill a child that leads a session, with what it started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        child.kill()


def read_text(path: str) -> str:
    """The content of a file; what is not UTF-8 is replaced.

    Raises OSError, with EFBIG where it has more than OUTPUT_MAX octets.
    """
    # Unbuffered: benches read many small files of /proc, again and again while they measure.
    with open(path, "rb", buffering=0) as file:
        found = b""
        while piece := file.read(1 << 16):
            found += piece
            if len(found) > OUTPUT_MAX:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return found.decode(errors="replace")


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
