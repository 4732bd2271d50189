# SPDX-License-Identifier: Apache-2.0
"""What holds for every test: none depends on how fast the machine is."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "wirespeed", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("explore", parent=settings.get_profile("wirespeed"), derandomize=False)
# Where the tests run in the background, SIGINT is ignored, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "wirespeed"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked `root` change this host (huge pages, namespaces): skipped for anybody else."""
    if os.geteuid() == 0:
        return
    for item in items:
        if item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason="needs root"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 KiB; for tests marked `root`."""
    directory = tmp_path / "small"
    directory.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", directory], check=True)
    try:
        yield directory
    finally:
        # Lazily: a server that another fixture stops later may still have a file open there.
        subprocess.run(["umount", "-l", directory], check=True)
