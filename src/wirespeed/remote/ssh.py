# SPDX-License-Identifier: Apache-2.0
"""Implement the Runner of another machine with the system's ssh: its config, keys and agent.

An agent on the host answers calls for files and commands. The first call finds out whether the host
has a usable python3. Without one, every call is a command line of the login shell.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from wirespeed.remote import agent
from wirespeed.remote.interface import Completed, ProgramMissing, RemoteError
from wirespeed.remote.ssh_calls import AgentCalls
from wirespeed.remote.ssh_client import FIRST_S, NoAgent, SshClient
from wirespeed.remote.ssh_connection import SshConnection
from wirespeed.remote.ssh_process import SshProcess
from wirespeed.remote.ssh_shell import ShellCalls, succeeded
from wirespeed.remote.ssh_target import SshTarget

_LOG = logging.getLogger(__name__)


class SshRunner:
    """Use as a context manager: leaving it ends the connection, its children and its locks."""

    def __init__(
        self,
        target: SshTarget,
        *,
        name: str = "",
        program: str = "ssh",
        first_s: float = FIRST_S,
        sudo: bool = False,
        patience: float = 1.0,
    ) -> None:
        """Prepare a connection; the first call opens it.

        name: the host's name in messages, by default its address. sudo: commands run as root.
        first_s: time limit of the first answer in seconds, for a machine that is booting. patience:
        factor on all time limits, for a machine whose CPUs are emulated.
        """
        self._target, self._name = target, name or target.host
        self._client = SshClient(target, self._name, program, first_s, patience, sudo=sudo)
        self._chosen: AgentCalls | ShellCalls | None = None
        self._choosing = threading.Lock()

    def __enter__(self) -> SshRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    @property
    def name(self) -> str:
        return self._name

    @property
    def address(self) -> str:
        return self._target.url

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        done = self._calls.run(argv, timeout_s, stdin, env or {})
        return succeeded(done, self.name) if check else done

    def spawn(
        self,
        argv: Sequence[str],
        *,
        log: str,
        env: Mapping[str, str] | None = None,
        cpus: Collection[int] | None = None,
        nice: int | None = None,
    ) -> SshProcess:
        what = f"{argv[0]} could not be started on {self.name}"
        words = {
            "argv": list(argv), "log": log, "env": dict(env or {}), "cpus": sorted(cpus or ()),
            "nice": nice,
        }  # fmt: skip
        try:
            held, said = self._client.hold("child", words, what)
        except OSError as fault:
            if fault.filename == log:
                raise
            if isinstance(fault, FileNotFoundError):
                raise ProgramMissing(f"{argv[0]} is not installed on {self.name}") from fault
            raise RemoteError(f"{what}: {fault.strerror}") from fault
        return SshProcess(held, said["pid"], self._client.check, self._client.release)

    def read(self, path: str) -> str:
        return self._calls.read(path)

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        return self._calls.read_many(paths) if paths else {}

    def write(self, path: str, text: str) -> None:
        self._calls.write(path, text)

    def glob(self, *patterns: str) -> tuple[str, ...]:
        return self._calls.glob(patterns) if patterns else ()

    def readlink(self, path: str) -> str:
        return self._calls.readlink(path)

    @contextmanager
    def lock(self, path: str) -> Iterator[None]:
        what = f"{path} on {self.name} could not be locked"
        held, _ = self._client.hold("lock", {"path": path}, what, timeout_s=None)
        try:
            yield
        finally:
            self._client.release(held)

    def connect(self, path: str, kind: socket.SocketKind) -> SshConnection:
        if kind == socket.SOCK_SEQPACKET:
            return self._relayed(path)
        connected = socket.socket(socket.AF_UNIX, kind)
        try:
            connected.connect(self._client.forwarded(path))
        except OSError:
            connected.close()
            self._client.check()
            raise
        return SshConnection(connected, self._client.check, connected.close, relayed=False)

    def _relayed(self, path: str) -> SshConnection:
        """Relay messages through an agent, because ssh itself forwards only streams."""
        what = f"{path} on {self.name} cannot be connected to"
        empty = agent.LENGTH.pack(0)
        held, _ = self._client.hold("relay", {"path": path}, what, still_here=empty)
        release = partial(self._client.release, held)
        return SshConnection(held.socket, self._client.check, release, relayed=True)

    @property
    def _calls(self) -> AgentCalls | ShellCalls:
        with self._choosing:
            if self._chosen is None:
                self._chosen = self._choice()
            return self._chosen

    def _choice(self) -> AgentCalls | ShellCalls:
        try:
            return AgentCalls(self._client, self.name)
        except NoAgent as why:
            if self._client.sudo:
                raise
            _LOG.warning("wirespeed: %s is read through its login shell: %s", self.name, why.what)
            return ShellCalls(self._client, self.name)
