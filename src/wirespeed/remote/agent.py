# SPDX-License-Identifier: Apache-2.0
"""Serve a host for longer than one command: run a child, hold a lock, relay messages.

Local code calls these functions. For another host, the text of this file is sent to its python3
(3.9 or newer). This file therefore imports no other module of wirespeed. There, the caller writes
to standard input. When that ends, or nothing arrives for SILENCE_S seconds, the connection is
broken: sshd notices a closed connection, but not a cut one for hours.
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
# The relay sends each message after its length. An empty message only keeps the agent alive.
LENGTH = struct.Struct(">I")
MESSAGE_MAX = 1 << 20
# Longest answer of an agent, which is one line, in octets.
ANSWER_MAX = 64 << 20
# A file, and each output of a command, is read up to this number of octets.
OUTPUT_MAX = 16 << 20
# Keepalive on the standard input of a child or a lock. Any other octet is a signal's number.
STILL_HERE = b"\0"

_PR_SET_PDEATHSIG = 1
# Loaded before any fork: between fork and exec nothing may be imported or allocated lazily.
_LIBC = ctypes.CDLL(None, use_errno=True)
_REAL_TIME, _NO_PRIORITY = (os.SCHED_FIFO, os.SCHED_RR), os.sched_param(0)


def start_child(
    argv: Sequence[str],
    log: str,
    env: Mapping[str, str] | None,
    cpus: Collection[int],
    nice: int | None,
) -> subprocess.Popen[bytes]:
    """Start a child that dies with the calling thread; its output is appended to the file `log`.

    The child leads its own session, so that a Ctrl-C at the terminal does not reach it. env is
    added to the current environment. Raises OSError when it cannot be started, SubprocessError when
    it cannot be given cpus or nice.
    """
    with open(log, "ab") as sink:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            env=None if env is None else {**os.environ, **env},
            start_new_session=True,
            # preexec_fn makes only system calls, so it cannot wait for a lock of another thread.
            preexec_fn=in_child(os.getpid(), frozenset(cpus), nice),  # noqa: PLW1509
        )


def in_child(
    parent: int, cpus: frozenset[int] = frozenset(), nice: int | None = None
) -> Callable[[], None]:
    """Return the preparation of a child between fork and exec.

    It dies with the starting thread, and does not inherit a real-time policy from it.
    """

    def prepare() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:  # the parent died before prctl took effect
            os._exit(1)
        if cpus:
            os.sched_setaffinity(0, cpus)
        if os.sched_getscheduler(0) in _REAL_TIME:
            os.sched_setscheduler(0, os.SCHED_OTHER, _NO_PRIORITY)
        if nice is not None:
            os.setpriority(os.PRIO_PROCESS, 0, nice)

    return prepare


def take_lock(path: str) -> int:
    """Wait for the lock on a file, created if needed; closing the descriptor releases the lock."""
    flags = os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class TooMuch(Exception):
    """Raised when a command printed more than OUTPUT_MAX octets. stderr: its errors up to there."""

    def __init__(self, stderr: str) -> None:
        super().__init__(stderr)
        self.stderr = stderr


def run_bounded(
    argv: Sequence[str], stdin: str | None, timeout_s: float, env: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """Run a command in a session of its own; return its exit code, standard output and error.

    On an error the whole session is killed. env: the whole environment, by default the current one.
    Raises OSError when it cannot be started, subprocess.TimeoutExpired and TooMuch.
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
    r"""Return standard output and error of a child, as UTF-8 text with "\n" line ends.

    Popen.communicate reads without a limit; this reads at most `most` octets of each. Raises
    subprocess.TimeoutExpired and TooMuch, both with `stderr`; the child continues to run then.
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
    """Return what is left to write; nothing where no process reads it."""
    try:
        return rest[os.write(descriptor, rest[: select.PIPE_BUF]) :]
    except BrokenPipeError:
        return rest[:0]


def kill_session(child: subprocess.Popen[bytes]) -> None:
    """Kill a child that leads a session, and the processes that it started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        child.kill()


def read_text(path: str) -> str:
    """Return the content of a file; octets that are not UTF-8 are replaced.

    Raises OSError, with EFBIG where the file has more than OUTPUT_MAX octets.
    """
    # Unbuffered: a bench reads many small files of /proc all the time while it measures.
    with open(path, "rb", buffering=0) as file:
        found = b""
        while piece := file.read(1 << 16):
            found += piece
            if len(found) > OUTPUT_MAX:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return found.decode(errors="replace")


# --- on another host, one of these functions is the whole program


def hold_child(
    argv: list[str], log: str, env: dict[str, str] | None, cpus: list[int], nice: int | None
) -> None:
    """Report the child's pid, then its exit code; kill it when the caller is no longer heard."""
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
    """Report when the lock is taken; hold it as long as the caller is heard."""
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
    """Yield the input on standard input; yield None whenever the other descriptor is readable.

    Ends when standard input ends or is silent for too long.
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
    """Write one line of JSON to the caller."""
    _write(json.dumps(words).encode() + b"\n")


def _write(message: bytes) -> None:
    rest = memoryview(message)
    while rest:
        rest = rest[os.write(1, rest) :]


def main() -> None:
    """Run the function that the argument names; report an error on the first line of output."""
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
