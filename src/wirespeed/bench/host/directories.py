# SPDX-License-Identifier: Apache-2.0
"""Make the directories for a run's sockets and logs on a host, and fetch the logs."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from wirespeed.bench.host.host import Host
from wirespeed.model.errors import WirespeedError
from wirespeed.remote.interface import Runner
from wirespeed.remote.socket_paths import socket_base

log = logging.getLogger("wirespeed.bench")


@dataclass(frozen=True, slots=True)
class Directories:
    """Directories of a run on one host."""

    run: PurePosixPath
    """Sockets and other files that end with the run; short, see socket_paths.py."""
    log: PurePosixPath
    """Files that remain."""
    tag: str
    """8 letters, unique to this run."""


@contextmanager
def run_directories(host: Host, logs: Path) -> Iterator[Directories]:
    """Make this run's directories on a host; remove the one for sockets at the end.

    logs: destination of the logs on this machine. A remote host logs into its run directory. The
    logs are fetched when the context ends, also after an error, unless the host is lost.
    """
    tag = uuid.uuid4().hex[:8]
    run = PurePosixPath(socket_base(host.runner)) / f"wirespeed-{tag}"
    host.make_directory(str(run))
    logs.mkdir(parents=True, exist_ok=True)
    if host.is_local:
        yield Directories(run, PurePosixPath(logs), tag)
        return
    there = run / "log"
    host.make_directory(str(there))
    try:
        yield Directories(run, there, tag)
    finally:
        _fetch(host.runner, there, logs)


def _fetch(runner: Runner, there: PurePosixPath, logs: Path) -> None:
    try:
        found = runner.read_many(runner.glob(f"{there}/*"))
    except WirespeedError as fault:
        log.warning("the logs on %s are lost: %s", runner.name, fault.what)
        return
    for path, text in found.items():
        if isinstance(text, str):
            (logs / PurePosixPath(path).name).write_text(text)
