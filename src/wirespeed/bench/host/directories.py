# SPDX-License-Identifier: Apache-2.0
"""Where does a run keep its sockets and its logs on one host, and how do logs get here?"""

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
    """Where a run keeps things. run: sockets and other things that end with it; its path is short
    (socket_paths.py). log: what remains. tag: 8 letters, this run's own."""

    run: PurePosixPath
    log: PurePosixPath
    tag: str


@contextmanager
def run_directories(host: Host, logs: Path) -> Iterator[Directories]:
    """This run's directories on a host: a new one for sockets, removed at the end, one for logs.

    logs: where the logs are in the end, on this machine. Another host has its own in the run
    directory; they are fetched when the context ends, however it does, unless the host is lost.
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
