# SPDX-License-Identifier: Apache-2.0
"""Hold a run while it is measured, so that no other process continues or deletes it.

SQLite: flock(2) on a file next to the store. PostgreSQL: an advisory lock of the session. Both end
with the process, however that ends.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import func, select

from wirespeed.store.errors import RunInUse
from wirespeed.store.store import Store


@contextmanager
def held(store: Store, run_id: str) -> Iterator[None]:
    """Hold the run while the body runs. Raises RunInUse where another process does, StoreError."""
    if store.file is None:
        with _session_lock(store, run_id):
            yield
    else:
        with _file_lock(store.file.with_name(f".{store.file.name}.{run_id}.lock"), run_id):
            yield


@contextmanager
def _file_lock(path: Path, run_id: str) -> Iterator[None]:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _in_use(run_id) from None
        if not _still_there(descriptor, path):  # its holder has removed it meanwhile
            raise _in_use(run_id)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


@contextmanager
def _session_lock(store: Store, run_id: str) -> Iterator[None]:
    key = func.hashtextextended(f"wirespeed run {run_id}", 0)
    with store.session() as connection:
        connection.detach()  # closed at the end instead of pooled: the lock ends with it
        if not connection.execute(select(func.pg_try_advisory_lock(key))).scalar_one():
            raise _in_use(run_id)
        connection.commit()  # an open transaction would block the database's cleanup
        yield


def _still_there(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _in_use(run_id: str) -> RunInUse:
    return RunInUse(
        f"run {run_id}: another process measures it", "Wait for that process, or end it first."
    )
