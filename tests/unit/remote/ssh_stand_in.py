# SPDX-License-Identifier: Apache-2.0
"""Stand in for ssh: `sh -c` runs the command line, as the login shell does for sshd."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from wirespeed.remote.local import LocalRunner
from wirespeed.remote.ssh import SshRunner
from wirespeed.sources.processes import started_at

# Options come before "--", then the host, then one word: the command line. The file `cut` stands
# for a broken connection; `sessions` lists the process IDs that a broken connection kills,
# each with its start in ticks since boot (proc_pid_stat(5)).
STAND_IN = """#!/bin/sh
here=$(dirname "$0")
printf '%s ' "$@" | tr '\\n' ' ' >> "$here/calls"
echo >> "$here/calls"
for word; do last=$word; done
case " $* " in *" -O check "*) [ ! -e "$here/cut" ]; exit;; *" -O "*) exit 0;; esac
[ ! -e "$here/cut" ] || { echo "ssh: connect to host: Connection refused" >&2; exit 255; }
read -r stat < /proc/$$/stat
set -- $stat
echo "$1 ${22}" >> "$here/sessions"
exec sh -c "exec $last"
"""
# Programs of a host without python3.
PROGRAMS = ("sh", "env", "cat", "xargs", "grep", "tee", "readlink", "printenv", "true")


def clients(tmp_path: Path) -> list[str]:
    """Return the command line of each ssh client so far."""
    calls = tmp_path / "calls"
    return calls.read_text().splitlines() if calls.exists() else []


def cut(tmp_path: Path) -> None:
    """Break the connection: running clients end, and no new one gets through."""
    (tmp_path / "cut").touch()
    for session in (tmp_path / "sessions").read_text().splitlines():
        pid, started = map(int, session.split())
        # Others may have the pid of a session that has ended.
        with suppress(FileNotFoundError, ProcessLookupError):
            if started_at(LocalRunner(), pid) == started:
                os.kill(pid, signal.SIGKILL)


def agent_pid(ssh: SshRunner) -> int:
    """Return the pid of the agent that answers calls: the parent of its commands."""
    return int(ssh.run(["sh", "-c", "echo $PPID"]).stdout)
