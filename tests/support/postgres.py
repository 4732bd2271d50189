# SPDX-License-Identifier: Apache-2.0
"""Run a real PostgreSQL for the tests, as an ordinary user, on a unix socket only."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cluster:
    """A database cluster in a folder of its own; it starts and stops as often as a test needs."""

    directory: Path

    @property
    def url(self) -> str:
        return f"postgresql://wirespeed@/postgres?host={self.directory}"

    def start(self, *settings: str) -> None:
        wanted = ["listen_addresses=", f"unix_socket_directories={self.directory}", "fsync=off",
                  "huge_pages=off"]  # fmt: skip
        options = " ".join(f"-c {setting}" for setting in [*wanted, *settings])
        self._control("-l", str(self.directory / "log"), "-o", options, "start")

    def serve_tls(self, certificate: Path, key: Path, port: int) -> None:
        """Restart with TLS, also on loopback, where clients without TLS are rejected."""
        self.stop()
        data = self.directory / "data"
        for source, name in ((certificate, "server.crt"), (key, "server.key")):
            (data / name).write_bytes(source.read_bytes())
            (data / name).chmod(0o600)
            if user := _ordinary_user():
                os.chown(data / name, int(str(user["user"])), int(str(user["group"])))
        rules = data / "pg_hba.conf"
        rules.write_text("local all all trust\nhostssl all all 127.0.0.1/32 trust\n")
        self.start("listen_addresses=127.0.0.1", f"port={port}", "ssl=on")

    def stop(self) -> None:
        self._control("-m", "immediate", "stop")

    def _control(self, *argv: str) -> None:
        _run(_program("pg_ctl"), "-D", str(self.directory / "data"), "-w", *argv)

    def signal(self, which: signal.Signals) -> None:
        """Signal the postmaster and all backends: stopped, they accept connections in silence."""
        master = int((self.directory / "data/postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
        # A postmaster that goes on gives up children that have ended.
        for process in [*map(int, children), master]:
            os.kill(process, which)


def _program(name: str) -> str:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    if found:
        return str(found[-1])
    path = shutil.which(name)
    assert path, f"{name} is missing: apt-get install postgresql"
    return path


def _ordinary_user() -> dict[str, object]:
    """Return the user for PostgreSQL, which refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": ()}


def _run(*argv: str) -> None:
    user = _ordinary_user()
    subprocess.run(argv, check=True, cwd="/", stdout=subprocess.DEVNULL, **user)  # type: ignore[call-overload]


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Run a cluster that ends, and is deleted, with the block."""
    directory = Path(tempfile.mkdtemp(prefix="ws-pg-"))
    user = _ordinary_user()
    if user:
        os.chown(directory, int(str(user["user"])), int(str(user["group"])))
    data = str(directory / "data")
    _run(_program("initdb"), "-D", data, "-U", "wirespeed", "-A", "trust", "--no-sync")
    made = Cluster(directory)
    made.start()
    try:
        yield made
    finally:
        if (directory / "data/postmaster.pid").exists():
            made.stop()
        shutil.rmtree(directory)
