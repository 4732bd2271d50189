# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sample import sample_run
from wirespeed.store.records import RunRecord


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """Return the quickstart study on a simulated SUT, read back from a real store."""
    directory: Path = tmp_path_factory.mktemp("sample")
    return sample_run(directory)
