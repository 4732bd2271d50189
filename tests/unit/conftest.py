# SPDX-License-Identifier: Apache-2.0
"""Set up the unit tests."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirespeed.store import sqlite_file


@pytest.fixture(autouse=True, scope="session")
def _no_wait_for_the_disk() -> Iterator[None]:
    """Let stores of the tests' own process not wait for the disk: no power fails in a test."""
    connect = sqlite_file.connect

    def quick(path: Path, options: str) -> sqlite3.Connection:
        connection = connect(path, options)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite_file, "connect", quick)
        yield
