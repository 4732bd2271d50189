# SPDX-License-Identifier: Apache-2.0
"""Set up all tests: none depends on the speed of the machine."""

from __future__ import annotations

import functools
import gc
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support import side_by_side
from tests.support.effort import effort
from tests.support.lab_node import WHOLE, emulated_lab, lab_node, lab_pair, lab_way  # noqa: F401
from tests.support.own_state import needs_root, own_state  # noqa: F401

settings.register_profile(
    "wirespeed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    max_examples=effort(100, 1000),
)
settings.register_profile("explore", parent=settings.get_profile("wirespeed"), derandomize=False)
# A background shell ignores SIGINT, and started programs would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# A make that a test runs is not below the make that runs the tests, and takes none of its options.
for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
    os.environ.pop(name, None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "wirespeed"))


# Collecting thousands of tests makes hardly any garbage, so none is looked for.
gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage again, but only what the tests themselves make.

    Each full collection would go through all modules and tests, which stay until the end.
    """
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()


# What the tests of a folder need. A test that needs more than its folder has a mark of its own.
_TESTS = Path(__file__).parent
_NEEDS = {
    _TESTS / "real": ("root",),
    _TESTS / "real" / "alone": ("root", "alone"),
    _TESTS / "dataplane" / "alone": ("alone",),
    _TESTS / "lab": ("root", "lab"),
    _TESTS / "cloud": ("openstack",),
    _TESTS / "packages": ("packages",),
    _TESTS / "router": ("root", "router"),
}


@functools.cache
def _needs(path: Path) -> tuple[str, ...]:
    """Return the marks of the nearest folder that has any; a folder's are also its own."""
    return next((_NEEDS[folder] for folder in (path, *path.parents) if folder in _NEEDS), ())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip folders that `-m "not MARK ..."` deselects, and files that `-m "MARK ..."` does."""
    if re.fullmatch(r"not \w+( and not \w+)*", config.option.markexpr):
        excluded = re.findall(r"not (\w+)", config.option.markexpr)
        return True if set(excluded) & set(_needs(collection_path)) else None
    mark = re.sub(r"( and not \w+)+$", "", config.option.markexpr)
    if (
        mark not in ("alone", "lab", "openstack", "fleet", "packages", "router")
        or collection_path.suffix != ".py"
    ):
        return None
    marked = mark in _needs(collection_path) or f"mark.{mark}" in collection_path.read_text()
    return None if marked else True


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test by its folder, unless it has the mark, with arguments perhaps."""
    for mark in _needs(item.path):
        if item.get_closest_marker(mark) is None:
            item.add_marker(mark)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests that need root, for other users.

    They change this host (huge pages, namespaces), or build an image of emulated servers.
    """
    if hasattr(config, "workerinput"):
        side_by_side.order(items)
    for item in items:
        mark = item.get_closest_marker("lab")
        if mark and mark.kwargs.get("whole") and not WHOLE:
            item.add_marker(pytest.mark.skip(reason="needs WIRESPEED_LAB=whole: make test-lab"))
        mark = item.get_closest_marker("packages")
        if mark and mark.kwargs.get("whole") and os.environ.get("WIRESPEED_PACKAGES") != "whole":
            item.add_marker(pytest.mark.skip(reason="needs all packages: make test-packages"))
        if os.geteuid() != 0 and item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason="needs root"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Provide a file system of 512 KiB; for tests marked `root`."""
    directory = tmp_path / "small"
    directory.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", directory], check=True)
    try:
        yield directory
    finally:
        # Lazily, because a server of another fixture may still have a file open there.
        subprocess.run(["umount", "-l", directory], check=True)
