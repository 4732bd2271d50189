# SPDX-License-Identifier: Apache-2.0
"""Hold an agent on another host as long as this process lives: a child, a lock, a relay, calls.

agent.py runs there, or agent_calls.py answers calls; either ends when it hears nothing. Here an ssh
client carries its standard input and output on one socket. A thread sends a keepalive to every
agent.
"""

from __future__ import annotations

import json
import select
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from wirespeed.remote import agent, agent_calls
from wirespeed.remote.interface import RemoteError

_BEAT_S = 3.0
_END_S = 5.0
# An ssh client and an agent print a line or two, a traceback at most.
_SAID_MAX = 1 << 16
# Loads modules of wirespeed on a host that lacks them, then runs main() of the last one.
_LOADER = """
import json, sys, types
try:
    if sys.version_info < (3, 9):
        raise ImportError("it is %d.%d, older than 3.9" % sys.version_info[:2])
    for name, text in json.loads(sys.argv[1]).items():
        module = sys.modules[name] = types.ModuleType(name)
        exec(compile(text, name, "exec"), module.__dict__)
except ImportError as fault:
    print(json.dumps({"refused": "python3 there cannot be used: %s" % fault}))
    sys.exit(1)
module.main()
"""


def agent_command(do: str, words: Mapping[str, object]) -> list[str]:
    """Return the command that runs agent.py on a host that does not have it."""
    return [*_sent(agent), json.dumps({"do": do, **words})]


def calls_command() -> list[str]:
    """Return the command that runs agent_calls.py on a host that does not have it."""
    return _sent(agent, agent_calls)


def _sent(*modules: ModuleType) -> list[str]:
    texts = {module.__name__: Path(str(module.__file__)).read_text() for module in modules}
    return ["python3", "-I", "-S", "-c", _LOADER, json.dumps(texts)]


class Held:
    """One agent on the other host. Made by Heartbeat.hold."""

    def __init__(self, ssh: Sequence[str], still_here: bytes) -> None:
        self.socket, far = socket.socketpair()
        with far:
            self._ssh = subprocess.Popen(
                list(ssh),
                stdin=far.fileno(),
                stdout=far.fileno(),
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        self._still_here = still_here
        self._ending = threading.Lock()
        self._outcome: tuple[int, str] | None = None

    def beat(self) -> None:
        self.send(self._still_here)

    def send(self, message: bytes) -> None:
        """Send without waiting; on a working connection the buffer never fills up."""
        try:
            self.socket.send(message, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except OSError:
            return  # It has ended; the reader of the socket learns that.

    def answer(self, timeout_s: float | None = None) -> dict[str, Any] | None:
        """Return the next line of the agent; None when it has ended.

        Raises TimeoutError, RemoteError where the line is too long.
        """
        if not select.select([self.socket], [], [], timeout_s)[0]:
            raise TimeoutError
        line = bytearray()
        while not line.endswith(b"\n"):
            # Look first, because the octets after the line belong to another reader.
            waiting = self._received(1 << 16, socket.MSG_PEEK)
            if not waiting:
                return None
            line += self._received(waiting.find(b"\n") + 1 or len(waiting))
            if len(line) > agent.MESSAGE_MAX:
                raise _too_long(agent.MESSAGE_MAX)
        words: dict[str, Any] = json.loads(line)
        return words

    def ask(self, call: bytes, timeout_s: float) -> bytes | None:
        """Send a call and return the line that answers it; None when the agent has ended.

        Raises TimeoutError in silence, RemoteError where the line is too long.
        """
        self.socket.settimeout(timeout_s)
        answer: list[bytes] = []
        octets = 0
        with suppress(BrokenPipeError, ConnectionResetError):  # It has ended, as the read finds.
            self.socket.sendall(call)
        while not answer or not answer[-1].endswith(b"\n"):
            piece = self._received(1 << 16)
            if not piece:
                return None
            answer.append(piece)
            octets += len(piece)
            if octets > agent.ANSWER_MAX:
                raise _too_long(agent.ANSWER_MAX)
        return b"".join(answer)

    def _received(self, most: int, flags: int = 0) -> bytes:
        """Return b"" where the agent has ended, even before it read what was sent."""
        try:
            return self.socket.recv(most, flags)
        except ConnectionResetError:
            return b""

    def let_go(self) -> None:
        """Shut the socket down, upon which the agent ends. The socket stays readable."""
        with suppress(OSError):  # The other end may be closed already.
            self.socket.shutdown(socket.SHUT_RDWR)

    def ended(self, within_s: float) -> tuple[int, str]:
        """Return exit code and errors of the ssh client; kill it after this time.

        Another thread may have ended it already, or be about to: the outcome is the same.
        """
        with self._ending:
            if self._outcome is None:
                try:
                    _, said = agent.exchange(self._ssh, None, within_s, _SAID_MAX)
                except (subprocess.TimeoutExpired, agent.TooMuch) as fault:
                    said = str(fault.stderr)
                    agent.kill_session(self._ssh)
                    self._ssh.wait()
                self._outcome = self._ssh.returncode, said.strip()
            return self._outcome

    def __del__(self) -> None:
        self.socket.close()


def _too_long(octets: int) -> RemoteError:
    return RemoteError(
        f"the agent's answer has more than {octets} octets without an end; it is not read further",
        "Look at what runs on that host: no file or command that is asked for is that long.",
    )


class Heartbeat:
    """All agents on one host, and the thread that sends their keepalives."""

    def __init__(self) -> None:
        self._held: set[Held] = set()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def hold(self, ssh: Sequence[str], still_here: bytes = agent.STILL_HERE) -> Held:
        held = Held(ssh, still_here)
        with self._lock:
            self._held.add(held)
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, daemon=True)
                self._thread.start()
        return held

    def release(self, held: Held) -> tuple[int, str]:
        with self._lock:
            self._held.discard(held)
        held.let_go()
        return held.ended(_END_S)

    def end(self) -> None:
        """Release all agents."""
        self._over.set()
        with self._lock:  # other threads release agents meanwhile
            left, self._held = self._held, set()
        for held in left:
            held.let_go()
        deadline = time.monotonic() + _END_S
        for held in left:
            held.ended(max(0.0, deadline - time.monotonic()))

    def _beat(self) -> None:
        while not self._over.wait(_BEAT_S):
            with self._lock:
                for held in self._held:
                    held.beat()
