# SPDX-License-Identifier: Apache-2.0
"""Provide a store of each type; PostgreSQL is a real one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.postgres import cluster


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Provide the URL of an empty database that ends with the tests."""
    with cluster() as running:
        yield running.url


@pytest.fixture(params=["sqlite", "postgresql"])
def store_name(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Provide a store of each type."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.sqlite")
    return str(request.getfixturevalue("postgresql"))
