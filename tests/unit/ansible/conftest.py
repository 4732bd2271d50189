# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.ansible_fleet import install_collection


@pytest.fixture(scope="session")
def collections(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the collection; return its directory."""
    return install_collection(tmp_path_factory.mktemp("galaxy"))
