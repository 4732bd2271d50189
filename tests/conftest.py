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

from tests import side_by_side
from tests.effort import effort
from tests.lab_node import WHOLE, emulated_lab, lab_node, lab_pair, lab_way  # noqa: F401

settings.register_profile(
    "wirespeed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    max_examples=effort(100, 1000),
)
settings.register_profile("explore", parent=settings.get_profile("wirespeed"), derandomize=False)
# Where the tests run in the background, SIGINT is ignored, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "wirespeed"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Few files have tests marked `alone`, `lab` or `fleet`: with `-m alone`, files without that
    mark are not imported."""
    mark = config.option.markexpr
    if mark not in ("alone", "lab", "fleet") or collection_path.suffix != ".py":
        return None
    return True if f"mark.{mark}" not in collection_path.read_text() else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked `root` change this host (huge pages, namespaces): skipped for anybody else. So
    are those marked `lab`, whose image root alone can build."""
    if hasattr(config, "workerinput"):
        side_by_side.order(items)
    for item in items:
        mark = item.get_closest_marker("lab")
        if mark and mark.kwargs.get("whole") and not WHOLE:
            item.add_marker(pytest.mark.skip(reason="needs WIRESPEED_LAB=whole: make test-lab"))
        if os.geteuid() != 0 and (mark or item.get_closest_marker("root")):
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
