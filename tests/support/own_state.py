# SPDX-License-Identifier: Apache-2.0
"""Provide folders of its own to a test that changes this host, and check that nothing is left."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.real_bench import leftovers


@pytest.fixture
def own_state(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give the test its own state and run directories, and check that nothing is left.

    An empty journal means that every change is undone. test_host_state.py checks the kernel's
    counts, because other programs may change them meanwhile.
    """
    with tempfile.TemporaryDirectory(prefix="ws") as directory:
        (Path(directory) / "run").mkdir()
        monkeypatch.setenv("XDG_RUNTIME_DIR", f"{directory}/run")
        monkeypatch.setenv("XDG_STATE_HOME", f"{directory}/state")
        priority = os.getpriority(os.PRIO_PROCESS, 0)
        yield
        assert leftovers() == []
        assert os.getpriority(os.PRIO_PROCESS, 0) == priority


@pytest.fixture
def needs_root(own_state: None) -> None:  # noqa: ARG001
    if os.geteuid() != 0:
        pytest.skip("needs root: Open vSwitch with DPDK, huge pages")
