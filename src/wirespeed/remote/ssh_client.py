# SPDX-License-Identifier: Apache-2.0
"""Keep one ssh connection to a host: run commands, hold agents, and notice when it breaks.

A master connection (ControlMaster) carries everything, so that a command costs a round trip and no
handshake.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wirespeed.remote import agent
from wirespeed.remote.bounds import printed_too_much
from wirespeed.remote.interface import HostLost, HostUnreachable, ProgramMissing, RemoteError
from wirespeed.remote.shell_words import shell_line
from wirespeed.remote.socket_paths import local_socket_base
from wirespeed.remote.ssh_held import Heartbeat, Held, agent_command, calls_command
from wirespeed.remote.ssh_target import SshTarget

NOT_FOUND_EXIT = 127
_SSH_FAILED_EXIT = 255
# A connection without an answer for three times this number of seconds is broken.
_ALIVE_S = 4
_START_S = 15.0
# The first call includes a name lookup, a handshake and keys.
FIRST_S = 30.0
# Prefix of the folder for a connection's sockets, followed by the process ID of its owner.
_FOLDER = "wirespeed-ssh-"


class NoAgent(RemoteError):
    """Raised when the host has no python3 that the agent can use."""


class SshClient:
    """One ssh connection. After it has broken, each call fails at once."""

    def __init__(
        self,
        target: SshTarget,
        name: str,
        program: str,
        first_s: float,
        patience: float = 1.0,
        *,
        sudo: bool = False,
    ) -> None:
        """Prepare a connection; the first call opens it.

        name: the host's name in messages. program: the ssh client. sudo: agents run as root.
        first_s: time limit of the first answer in seconds, for a machine that is booting. patience:
        see SshRunner.
        """
        self.sudo = sudo
        self._target, self._name, self._first_s = target, name, first_s
        self.patience = patience
        base = local_socket_base()
        _remove_stale_folders(base)
        self._folder = tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-", dir=base)
        self._forwards: dict[str, str] = {}
        self._heartbeat = Heartbeat()
        self._reached = False
        self._lost: str | None = None
        where = ["-p", str(target.port)] if target.port is not None else []
        who = ["-l", target.user] if target.user is not None else []
        config = ["-F", target.config] if target.config is not None else []
        self._ssh = [
            program,
            *config,
            "-o", "BatchMode=yes",
            "-o", "ConnectTimeout=10",
            "-o", f"ServerAliveInterval={_ALIVE_S * patience:.0f}",
            "-o", "ServerAliveCountMax=2",
            "-o", "ControlMaster=auto",
            "-o", "ControlPersist=60",
            "-o", f"ControlPath={self._folder.name}/master",
            *where,
            *who,
        ]  # fmt: skip

    def close(self) -> None:
        """End the agents, the master connection and its socket."""
        try:
            self._heartbeat.end()
        finally:
            try:
                self._master("exit")
            finally:
                self._folder.cleanup()

    def call(
        self, line: str, stdin: str | None = None, timeout_s: float = 30.0
    ) -> subprocess.CompletedProcess[str]:
        """Run a line in the host's login shell. Raises HostUnreachable, RemoteError."""
        if self._lost is not None:
            raise self._unreachable(self._lost)
        done = self._call(self._words(line), stdin, timeout_s)
        # A remote command may also end with ssh's own error code.
        if done.returncode == _SSH_FAILED_EXIT and not self._has_master():
            raise self._unreachable(done.stderr.strip())
        self._reached = True
        return done

    def check(self) -> None:
        """Raise HostUnreachable where the host does not answer, HostLost where it once did."""
        if self._lost is None and self._reached and not self._has_master():
            raise self._unreachable("nothing came back any more")
        self.call("true")

    def hold(
        self,
        do: str,
        words: Mapping[str, object],
        what: str,
        *,
        timeout_s: float | None = _START_S,
        still_here: bytes = agent.STILL_HERE,
    ) -> tuple[Held, dict[str, Any]]:
        """Start an agent that runs a function on the host; return it and its first answer.

        do, words: the function of agent.py and its arguments. what: start of the error message when
        it fails. Raises the OSError that the agent met.
        """
        if not self._reached or self._lost is not None:
            self.call("true")
        command = agent_command(do, words)
        held, said = self._started(command, what, timeout_s, still_here)
        if said is not None and not said.keys() & {"errno", "refused"}:
            return held, said
        code, stderr = self.release(held)
        if said is None:
            self.check()
            if code == NOT_FOUND_EXIT:
                raise ProgramMissing(
                    f"python3 is not installed on {self._name}", "Install it there: 3.9 or newer."
                )
            raise RemoteError(f"{what}: {stderr or 'it ended without a message'}")
        if "refused" in said:
            raise RemoteError(f"{what}: {said['refused']}")
        number = said["errno"] or 0
        raise OSError(number, os.strerror(number), said["file"])

    def hold_calls(self) -> Held:
        """Start an agent that answers calls. Raises HostUnreachable, NoAgent, RemoteError."""
        if self._lost is not None:
            raise self._unreachable(self._lost)
        what = f"the agent on {self._name} did not start"
        held, said = self._started(calls_command(), what, self._first_s, agent.STILL_HERE)
        if said is not None and "refused" not in said:
            self._reached = True
            return held
        code, stderr = self.release(held)
        if code == _SSH_FAILED_EXIT and not self._has_master():
            raise self._unreachable(stderr)
        self._reached = True
        if said is not None:
            raise NoAgent(said["refused"])
        if code == NOT_FOUND_EXIT:
            raise NoAgent("python3 is not installed there")
        raise RemoteError(f"{what}: {stderr or 'it ended without a message'}")

    def _started(
        self, command: Sequence[str], what: str, timeout_s: float | None, still_here: bytes
    ) -> tuple[Held, dict[str, Any] | None]:
        """Start an agent; return it and its first answer, None where it ended."""
        words = self._words(shell_line([*(["sudo", "-n", "--"] if self.sudo else []), *command]))
        try:
            held = self._heartbeat.hold(words, still_here)
        except OSError as fault:
            raise _no_client(words[0], fault) from fault
        try:
            return held, held.answer(None if timeout_s is None else timeout_s * self.patience)
        except TimeoutError:
            self.release(held)
            limit_s = (timeout_s or 0.0) * self.patience
            raise RemoteError(f"{what}: no answer within {limit_s:g} s") from None
        except BaseException:
            self.release(held)
            raise

    def release(self, held: Held) -> tuple[int, str]:
        """Release an agent, which then ends; return exit code and errors of its ssh client."""
        return self._heartbeat.release(held)

    def forwarded(self, path: str) -> str:
        """Return the local socket that ssh forwards to that stream socket on the host."""
        if path not in self._forwards:
            self.check()
            near = f"{self._folder.name}/forward{len(self._forwards)}"
            done = self._master("forward", "-L", f"{near}:{path}")
            if done.returncode != 0:
                raise RemoteError(
                    f"{path} on {self._name} cannot be forwarded: {done.stderr.strip()}"
                )
            self._forwards[path] = near
        return self._forwards[path]

    def _has_master(self) -> bool:
        return self._master("check").returncode == 0

    def _master(self, command: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Send a control command to the local master connection; needs no network."""
        words = [*self._ssh, "-O", command, *options, "--", self._target.host]
        return self._call(words, None, 10.0)

    def _words(self, line: str) -> list[str]:
        return [*self._ssh, "--", self._target.host, line]

    def _unreachable(self, said: str) -> HostUnreachable:
        if not self._reached:
            return HostUnreachable(
                f"{self._name} could not be reached: {said or 'ssh gave no reason'}",
                f"Check that `{self._target.command} true` works without a password.",
            )
        self._lost = said
        return HostLost(
            f"the connection to {self._name} broke: {said or 'ssh gave no reason'}",
            "What runs there ends by itself within 15 s. Once the host can be reached again, "
            "`wirespeed clean` undoes what is left.",
        )

    def _call(
        self, words: Sequence[str], stdin: str | None, timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        try:
            code, stdout, stderr = agent.run_bounded(words, stdin, timeout_s)
        except subprocess.TimeoutExpired:
            raise RemoteError(
                f"{self._name} did not answer within {timeout_s:g} s: `{words[-1][:80]}`"
            ) from None
        except agent.TooMuch:
            raise printed_too_much(f"{self._name}: `{words[-1][:80]}`") from None
        except OSError as fault:
            raise _no_client(words[0], fault) from fault
        return subprocess.CompletedProcess(list(words), code, stdout, stderr)


def _no_client(program: str, fault: OSError) -> RemoteError:
    return RemoteError(
        f"{program} could not be started: {fault.strerror}",
        "Install the OpenSSH client (`apt-get install openssh-client`).",
    )


def _remove_stale_folders(base: str) -> None:
    """Remove folders of killed wirespeed processes; no other process knows of them."""
    for folder in Path(base).glob(f"{_FOLDER}[0-9]*-*"):
        owner = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if not Path(f"/proc/{owner}").exists():
            shutil.rmtree(folder, ignore_errors=True)
