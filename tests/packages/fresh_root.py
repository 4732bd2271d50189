# SPDX-License-Identifier: Apache-2.0
"""Make fresh roots of Debian by mmdebstrap, and run commands in them.

A command has its own mounts and processes; kernel, network and huge pages are this host's.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.packages.commands import PLAIN, Log
from wirespeed.image import debian
from wirespeed.remote.local import LocalRunner

# How apt reaches its mirror from this host, as in setup/debian13-inside.sh.
_ENTER = """
cd "$0"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs tmpfs run
mkdir -p run/lock
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs; do
    [ -e "$file" ] && [ -e ".$file" ] && mount --bind -o ro "$file" ".$file"
done
exec chroot . "$@"
"""


@dataclass(frozen=True, slots=True)
class FreshRoot:
    """A root directory, with the log of the commands in it."""

    path: Path
    log: Log

    @classmethod
    def make(cls, path: Path, log: Log, suite: str | None = None) -> FreshRoot:
        """Make a root of a release of Debian, with apt and its package lists.

        suite: its name, of which this host's mirror has packages. Default: this host's.
        """
        runner = LocalRunner()
        own = debian.suite(runner)
        suite = suite or own
        sources = path.with_suffix(".list")
        sources.write_text(debian.sources(runner, own).replace(f" {own}", f" {suite}"))
        subprocess.run(
            ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--format=directory",
             "--skip=cleanup/apt/lists", "--dpkgopt=force-unsafe-io",
             '--aptopt=APT::Install-Recommends "false"', '--aptopt=APT::Sandbox::User "root"',
             "--include=ca-certificates", suite, path, sources],
            check=True,
        )  # fmt: skip
        # Services of Open vSwitch would start next to this host's.
        policy = path / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        for name in ("etc/resolv.conf", "etc/hosts"):
            (path / name).touch()
        return cls(path, log)

    def run(self, *argv: str, offline: bool = False) -> str:
        """Return what a command prints that must succeed."""
        entered = self._entered(offline)
        return self.log.run([*entered, *argv], _ENVIRONMENT, entering=len(entered))

    def shell(self, script: str, offline: bool = False) -> str:
        """Return what a script prints that must succeed; it is not logged."""
        return Log("").run([*self._entered(offline), "sh", "-ec", script], _ENVIRONMENT)

    def _entered(self, offline: bool) -> list[str]:
        own = ["--mount", "--pid", "--fork", "--kill-child", *(["--net"] if offline else [])]
        return ["unshare", *own, "sh", "-ec", _ENTER, str(self.path)]


_ENVIRONMENT = {**PLAIN, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
