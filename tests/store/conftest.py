# SPDX-License-Identifier: Apache-2.0
"""A real PostgreSQL of our own, as an ordinary user, on a unix socket only."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def _program(name: str) -> str:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    if found:
        return str(found[-1])
    path = shutil.which(name)
    assert path, f"{name} is missing: apt-get install postgresql"
    return path


def _ordinary_user() -> dict[str, object]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": ()}


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of an empty database that ends with the tests."""
    directory = Path(tempfile.mkdtemp(prefix="ws-pg-"))
    user = _ordinary_user()
    if user:
        os.chown(directory, int(str(user["user"])), int(str(user["group"])))
    data = str(directory / "data")

    def run(*argv: str) -> None:
        subprocess.run(argv, check=True, cwd="/", stdout=subprocess.DEVNULL, **user)  # type: ignore[call-overload]

    run(_program("initdb"), "-D", data, "-U", "wirespeed", "-A", "trust", "--no-sync")
    options = f"-c listen_addresses= -c unix_socket_directories={directory} -c fsync=off"
    log = str(directory / "log")
    run(_program("pg_ctl"), "-D", data, "-w", "-l", log, "-o", options, "start")
    try:
        yield f"postgresql://wirespeed@/postgres?host={directory}"
    finally:
        run(_program("pg_ctl"), "-D", data, "-w", "-m", "immediate", "stop")
        shutil.rmtree(directory)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_name(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.sqlite")
    return str(request.getfixturevalue("postgresql"))
