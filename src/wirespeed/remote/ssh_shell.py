# SPDX-License-Identifier: Apache-2.0
"""Read files and run commands on a host without python3, through its login shell.

sshd passes the words after the host to the login shell as *one line*. Every word is quoted for a
POSIX shell: no argument, path or pattern is ever taken for shell text.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping, Sequence

from wirespeed.remote.interface import Completed, ProgramMissing, RemoteError
from wirespeed.remote.shell_words import glob_words, shell_line
from wirespeed.remote.ssh_client import NOT_FOUND_EXIT, SshClient

_GREP_ERROR = re.compile(r"^grep: (.*): (.*?)$")
_ERRNO = {os.strerror(number): number for number in errno.errorcode}
# Errors in the words of os.strerror.
_ENGLISH = {"LC_ALL": "C"}
_FILES_S = 30.0


class ShellCalls:
    """Calls through the login shell. Methods and errors: see Runner."""

    def __init__(self, client: SshClient, name: str) -> None:
        """Use a connection. name: the host's name in messages."""
        self._client, self._name = client, name

    def run(
        self,
        argv: Sequence[str],
        timeout_s: float,
        stdin: str | None,
        env: Mapping[str, str],
    ) -> Completed:
        done = self._client.call(shell_line(argv, env), stdin, timeout_s * self._client.patience)
        if done.returncode == NOT_FOUND_EXIT:
            raise ProgramMissing(f"{argv[0]} is not installed on {self._name}")
        return Completed(tuple(argv), done.returncode, done.stdout, done.stderr)

    def read(self, path: str) -> str:
        done = self._files(["cat", "--", path])
        if done.exit_code != 0:
            raise _os_error(path, done.stderr.strip().rpartition(": ")[2])
        return done.stdout

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        """Read all files in one round trip: grep prints each line after its file name and a NUL."""
        found: dict[str, str | OSError] = dict.fromkeys(paths, "")
        words = ["xargs", "-0", "-r", "grep", "-aHZ", "--", ""]
        done = self._files(words, stdin="\0".join(paths))
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
        done = self._files(["sh", "-c", 'exec tee -- "$1" >/dev/null', "sh", path], stdin=text)
        if done.exit_code != 0:
            raise _os_error(path, done.stderr.strip().rpartition(": ")[2])

    def glob(self, patterns: Sequence[str]) -> tuple[str, ...]:
        script = (
            f"for f in {' '.join(map(glob_words, patterns))}; do "
            'if [ -e "$f" ] || [ -L "$f" ]; then printf "%s\\0" "$f"; fi; done'
        )
        done = succeeded(self._files(["sh", "-c", script]), self._name)
        return tuple(sorted({path for path in done.stdout.split("\0") if path}))

    def readlink(self, path: str) -> str:
        done = succeeded(self._files(["readlink", "-f", "--", path]), self._name)
        return done.stdout.removesuffix("\n")

    def _files(self, argv: Sequence[str], stdin: str | None = None) -> Completed:
        return self.run(argv, _FILES_S, stdin, _ENGLISH)


def succeeded(done: Completed, name: str) -> Completed:
    """Return the command's result, or raise RemoteError with its output where it failed.

    name: the name of its host.
    """
    if done.exit_code != 0:
        error = (done.stderr or done.stdout).strip() or "nothing on stderr"
        raise RemoteError(f"`{' '.join(done.argv)}` on {name} ended with {done.exit_code}: {error}")
    return done


def _os_error(path: str, said: str) -> OSError:
    """Return the error that open() would raise, e.g. FileNotFoundError, from a program's text."""
    return OSError(_ERRNO.get(said, 0), said, path)
