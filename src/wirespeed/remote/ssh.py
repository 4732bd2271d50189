# SPDX-License-Identifier: Apache-2.0
"""The Runner of another machine, through the system's ssh: its config, keys and agent apply.

One master connection (ControlMaster) carries everything, so that a command costs a round trip and
no handshake. sshd hands the words after the host to the login shell as *one line*: every word is
quoted for a POSIX shell, so that no argument, path or pattern is ever taken for shell text.
"""

from __future__ import annotations

import re
import shlex
import signal
import socket
import subprocess
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from wirespeed.model.errors import BadInput
from wirespeed.remote.interface import Completed, HostUnreachable, ProgramMissing, RemoteError
from wirespeed.remote.ssh_process import WATCHED_CHILD, SshProcess

SSH_FAILED_EXIT = 255
NOT_FOUND_EXIT = 127

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]*")
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9_.-]+)?")
_WILDCARD = re.compile(r"(\[[^\]/]+\]|[*?])")
_GREP_ERROR = re.compile(r"^grep: (.*): (.*?)$")


@dataclass(frozen=True, slots=True)
class SshTarget:
    """Where to: port and user are None where ssh's own configuration decides."""

    host: str
    user: str | None = None
    port: int | None = None

    @classmethod
    def parse(cls, url: str) -> SshTarget:
        """Read ssh://[user@]host[:port]. Raises BadInput.

        A name that starts with "-" would be taken for an option by ssh: it is refused.
        """
        example = "Write it as ssh://user@host or ssh://user@host:port."
        try:
            parts = urlsplit(url)
            host, user, port = parts.hostname or "", parts.username, parts.port
        except ValueError as fault:
            raise BadInput(f"{url!r} is not an ssh address: {fault}", example) from None
        if parts.scheme != "ssh" or parts.path not in ("", "/") or parts.query or parts.password:
            raise BadInput(f"{url!r} is not of the form ssh://[user@]host[:port]", example)
        if not _HOST.fullmatch(host):
            raise BadInput(f"{host!r} in {url!r} is not a host name", example)
        if user is not None and not _NAME.fullmatch(user):
            raise BadInput(f"{user!r} in {url!r} is not a user name", example)
        return cls(host, user, port)

    @property
    def url(self) -> str:
        """The address as `parse` and ssh itself read it."""
        user = f"{self.user}@" if self.user is not None else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = f":{self.port}" if self.port is not None else ""
        return f"ssh://{user}{host}{port}"


class SshRunner:
    """Use as a context manager: leaving it closes the master connection."""

    def __init__(self, target: SshTarget, *, program: str = "ssh") -> None:
        self._target = target
        self._folder = tempfile.TemporaryDirectory(prefix="wirespeed-ssh-")
        self._forwards = 0
        where = ["-p", str(target.port)] if target.port is not None else []
        who = ["-l", target.user] if target.user is not None else []
        self._ssh = [
            program,
            "-o", "BatchMode=yes",
            "-o", "ConnectTimeout=10",
            "-o", "ServerAliveInterval=10",
            "-o", "ControlMaster=auto",
            "-o", "ControlPersist=60",
            "-o", f"ControlPath={self._folder.name}/master",
            *where,
            *who,
        ]  # fmt: skip

    def __enter__(self) -> SshRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the master connection and remove its socket."""
        self._call([*self._ssh, "-O", "exit", "--", self._target.host], None, 10.0)
        self._folder.cleanup()

    @property
    def name(self) -> str:
        return self._target.host

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        line = shell_line(argv, env)
        done = self._call([*self._ssh, "--", self._target.host, line], stdin, timeout_s)
        if done.returncode == SSH_FAILED_EXIT:
            raise HostUnreachable(
                f"{self.name} could not be reached: {done.stderr.strip() or 'ssh gave no reason'}",
                f"Check that `ssh {self._target.url} true` works without a password.",
            )
        if done.returncode == NOT_FOUND_EXIT:
            raise ProgramMissing(f"{argv[0]} is not installed on {self.name}")
        completed = Completed(tuple(argv), done.returncode, done.stdout, done.stderr)
        if check and done.returncode != 0:
            said = (done.stderr or done.stdout).strip() or "nothing on stderr"
            raise RemoteError(
                f"`{' '.join(argv)}` on {self.name} ended with {done.returncode}: {said}"
            )
        return completed

    def spawn(
        self,
        argv: Sequence[str],
        *,
        log: str,
        env: Mapping[str, str] | None = None,
        cpus: Collection[int] | None = None,
    ) -> SshProcess:
        pinned = ["taskset", "-c", ",".join(map(str, sorted(cpus)))] if cpus else []
        words = ["sh", "-c", WATCHED_CHILD, "sh", log, *_env_words(env), *pinned, *argv]
        popen = subprocess.Popen(
            [*self._ssh, "--", self._target.host, shell_line(words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        return SshProcess.started(popen, self._kill, f"{argv[0]} on {self.name}")

    def _kill(self, pid: int, number: int) -> None:
        name = signal.Signals(number).name.removeprefix("SIG")
        self.run(["kill", "-s", name, str(pid)], check=False)

    def read(self, path: str) -> str:
        done = self.run(["cat", "--", path], env={"LC_ALL": "C"}, check=False)
        if done.exit_code != 0:
            raise _os_error(path, done.stderr.strip().rpartition(": ")[2])
        return done.stdout

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        """One round trip: grep prints every line with its file's name and a NUL in front."""
        found: dict[str, str | OSError] = dict.fromkeys(paths, "")
        words = ["xargs", "-0", "-r", "grep", "-aHZ", "--", ""]
        done = self.run(words, stdin="\0".join(paths), env={"LC_ALL": "C"}, check=False)
        for line in done.stdout.split("\n"):
            path, nul, text = line.partition("\0")
            if nul and isinstance(before := found.get(path), str):
                found[path] = f"{before}{text}\n"
        for line in done.stderr.split("\n"):
            error = _GREP_ERROR.match(line)
            if error and error[1] in found:
                found[error[1]] = _os_error(error[1], error[2])
        return found

    def write(self, path: str, text: str) -> None:
        self.run(["sh", "-c", 'cat > "$1"', "sh", path], stdin=text)

    def glob(self, *patterns: str) -> tuple[str, ...]:
        script = (
            f"for f in {' '.join(map(glob_words, patterns))}; do "
            'if [ -e "$f" ] || [ -L "$f" ]; then printf "%s\\0" "$f"; fi; done'
        )
        found = self.run(["sh", "-c", script], env={"LC_ALL": "C"}).stdout
        return tuple(sorted({path for path in found.split("\0") if path}))

    def readlink(self, path: str) -> str:
        return self.run(["readlink", "-f", "--", path]).stdout.removesuffix("\n")

    def connect(self, path: str, kind: socket.SocketKind) -> socket.socket:
        if kind != socket.SOCK_STREAM:
            raise RemoteError(
                f"ssh forwards stream sockets only; {path} on {self.name} is {kind.name}",
                "Run wirespeed on that host itself.",
            )
        self._forwards += 1
        near = Path(self._folder.name) / f"forward{self._forwards}"
        forward = ["-O", "forward", "-L", f"{near}:{path}", "--", self._target.host]
        # The forward needs the master connection; `true` brings it up.
        self.run(["true"])
        done = self._call([*self._ssh, *forward], None, 10.0)
        if done.returncode != 0:
            raise RemoteError(f"{path} on {self.name} cannot be forwarded: {done.stderr.strip()}")
        connected = socket.socket(socket.AF_UNIX, kind)
        connected.connect(str(near))
        return connected

    def _call(
        self, words: Sequence[str], stdin: str | None, timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                list(words),
                input=stdin,
                stdin=subprocess.DEVNULL if stdin is None else None,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                start_new_session=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise RemoteError(
                f"{self.name} did not answer within {timeout_s:g} s: `{words[-1][:80]}`"
            ) from None
        except OSError as fault:
            raise RemoteError(
                f"{words[0]} could not be started: {fault.strerror}",
                "Install the OpenSSH client (`apt-get install openssh-client`).",
            ) from fault


def shell_line(argv: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    """The one line that makes a POSIX shell run exactly argv, with env added."""
    return shlex.join([*_env_words(env), *argv])


def _env_words(env: Mapping[str, str] | None) -> list[str]:
    return ["env", *(f"{key}={value}" for key, value in env.items())] if env else []


def glob_words(pattern: str) -> str:
    """The pattern as shell text in which only *, ? and [...] keep a meaning."""
    pieces = _WILDCARD.split(pattern)
    return "".join(
        piece if _WILDCARD.fullmatch(piece) else shlex.quote(piece) for piece in pieces if piece
    )


def _os_error(path: str, said: str) -> OSError:
    kinds: dict[str, type[OSError]] = {
        "No such file or directory": FileNotFoundError,
        "Permission denied": PermissionError,
        "Is a directory": IsADirectoryError,
        "Not a directory": NotADirectoryError,
    }
    return kinds.get(said, OSError)(f"{path}: {said}")
