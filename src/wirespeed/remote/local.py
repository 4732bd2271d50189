# SPDX-License-Identifier: Apache-2.0
"""Implement the Runner of the machine that wirespeed itself runs on.

Children are started without a shell and in a session of their own. A Ctrl-C at the terminal reaches
only wirespeed, which then takes the bench down in order. Children die with wirespeed (prctl(2),
PR_SET_PDEATHSIG). That signal is tied to the *thread* that started the child: start long-lived
children from the main thread.
"""

from __future__ import annotations

import glob
import os
import signal
import socket
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from wirespeed.remote.agent import TooMuch, read_text, run_bounded, start_child, take_lock
from wirespeed.remote.bounds import printed_too_much
from wirespeed.remote.interface import LOCALHOST, Completed, ProgramMissing, RemoteError

# Debian packages of commands that a bench may lack.
_PACKAGE_OF = {
    "ip": "iproute2",
    "mke2fs": "e2fsprogs",
    "mksquashfs": "squashfs-tools",
    "mmdebstrap": "mmdebstrap",
    "ovs-vsctl": "openvswitch-switch",
    "ovs-ofctl": "openvswitch-common",
    "ovs-appctl": "openvswitch-common",
    "ovsdb-tool": "openvswitch-common",
    "ovsdb-server": "openvswitch-common",
    "ovs-vswitchd-dpdk": "openvswitch-switch-dpdk",
    "dpdk-testpmd": "dpdk-dev",
    "ssh": "openssh-client",
    "dpdk-devbind.py": "dpdk",
}


class LocalProcess:
    """A child of this process."""

    def __init__(self, popen: subprocess.Popen[bytes], log: str) -> None:
        self._popen = popen
        self._pidfd = os.pidfd_open(popen.pid)
        self.log = log

    @property
    def pid(self) -> int:
        return self._popen.pid

    def fileno(self) -> int:
        """Return a pidfd, which select() reports readable once the child has ended."""
        return self._pidfd

    def poll(self) -> int | None:
        return self._popen.poll()

    def wait(self, timeout_s: float) -> int:
        try:
            return self._popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(
                f"process {self.pid} is still running after {timeout_s:g} s"
            ) from None

    def signal(self, number: int) -> None:
        # A pidfd still refers to this process after its pid has been given to another one.
        try:
            signal.pidfd_send_signal(self._pidfd, number)
        except ProcessLookupError:
            return

    def __del__(self) -> None:
        os.close(self._pidfd)


class LocalRunner:
    """Commands and files of this machine. name: its name in messages."""

    def __init__(self, name: str = LOCALHOST) -> None:
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def address(self) -> str:
        return LOCALHOST

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        try:
            code, stdout, stderr = run_bounded(argv, stdin, timeout_s, _environment(env))
        except subprocess.TimeoutExpired:
            raise RemoteError(f"`{' '.join(argv)}` did not end within {timeout_s:g} s") from None
        except TooMuch:
            raise printed_too_much(f"`{' '.join(argv)}`") from None
        except OSError as fault:
            raise _cannot_start(argv, fault) from fault
        if check and code != 0:
            error = (stderr or stdout).strip() or "nothing on stderr"
            raise RemoteError(f"`{' '.join(argv)}` ended with {code}: {error}")
        return Completed(tuple(argv), code, stdout, stderr)

    def spawn(
        self,
        argv: Sequence[str],
        *,
        log: str,
        env: Mapping[str, str] | None = None,
        cpus: Collection[int] | None = None,
        nice: int | None = None,
    ) -> LocalProcess:
        try:
            popen = start_child(argv, log, env, cpus or (), nice)
        except OSError as fault:
            if fault.filename == log:
                raise
            raise _cannot_start(argv, fault) from fault
        except subprocess.SubprocessError as fault:
            raise RemoteError(
                f"`{argv[0]}` could not be given CPUs {sorted(cpus or ())} and nice {nice}: {fault}"
            ) from fault
        return LocalProcess(popen, log)

    def read(self, path: str) -> str:
        return read_text(path)

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        found: dict[str, str | OSError] = {}
        for path in paths:
            try:
                found[path] = self.read(path)
            except OSError as fault:
                found[path] = fault
        return found

    def write(self, path: str, text: str) -> None:
        Path(path).write_text(text)

    def glob(self, *patterns: str) -> tuple[str, ...]:
        return tuple(sorted({path for pattern in patterns for path in glob.glob(pattern)}))

    def readlink(self, path: str) -> str:
        return os.path.realpath(path)

    @contextmanager
    def lock(self, path: str) -> Iterator[None]:
        descriptor = take_lock(path)
        try:
            yield
        finally:
            os.close(descriptor)

    def connect(self, path: str, kind: socket.SocketKind) -> socket.socket:
        connected = socket.socket(socket.AF_UNIX, kind)
        try:
            connected.connect(path)
        except OSError:
            connected.close()
            raise
        return connected


def _environment(extra: Mapping[str, str] | None) -> dict[str, str] | None:
    return None if extra is None else {**os.environ, **extra}


def _cannot_start(argv: Sequence[str], fault: OSError) -> RemoteError:
    program = os.path.basename(argv[0])
    package = _PACKAGE_OF.get(program)
    if isinstance(fault, FileNotFoundError):
        return ProgramMissing(
            f"{argv[0]} is not installed on this host",
            f"Run `apt-get install {package}` or `make setup`." if package else "",
        )
    return RemoteError(f"{argv[0]} could not be started: {fault.strerror}")
