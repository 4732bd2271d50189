# SPDX-License-Identifier: Apache-2.0
"""Provide folders of its own to a test that changes this host, and check that nothing is left."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.real_bench import leftovers, opened
from wirespeed.bench.session import RealBench
from wirespeed.model.study.spec import Frames


@contextmanager
def state_of_its_own() -> Iterator[None]:
    """Use state and run directories of its own, and check that nothing is left.

    An empty journal means that every change is undone. test_host_state.py checks the kernel's
    counts, because other programs may change them meanwhile.
    """
    with (
        tempfile.TemporaryDirectory(prefix="ws") as directory,
        pytest.MonkeyPatch.context() as monkeypatch,
    ):
        (Path(directory) / "run").mkdir()
        monkeypatch.setenv("XDG_RUNTIME_DIR", f"{directory}/run")
        monkeypatch.setenv("XDG_STATE_HOME", f"{directory}/state")
        priority = os.getpriority(os.PRIO_PROCESS, 0)
        yield
        assert leftovers() == []
        assert os.getpriority(os.PRIO_PROCESS, 0) == priority


@pytest.fixture
def own_state() -> Iterator[None]:
    """Give the test its own state and run directories, and check that nothing is left."""
    with state_of_its_own():
        yield


@contextmanager
def opened_for_several(spec: Frames, logs: Path) -> Iterator[RealBench]:
    """Open a bench that several tests use; skip them without root."""
    skip_without_root()
    with state_of_its_own(), opened(spec, logs) as bench:
        yield bench


def skip_without_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: Open vSwitch with DPDK, huge pages")


@pytest.fixture
def needs_root(own_state: None) -> None:  # noqa: ARG001
    skip_without_root()
