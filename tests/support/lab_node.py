# SPDX-License-Identifier: Apache-2.0
"""Provide the virtual testbed of tests marked `lab`: booted once, with one node or two.

A test that changes a node restores it, or requests a new one with `renew`. The testbed is in the
build directory: the next session removes what a killed session left there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from wirespeed.image.cache import ImageCache, images_directory
from wirespeed.lab.lab import Lab
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.ssh import SshRunner

WHOLE = os.environ.get("WIRESPEED_LAB") == "whole"
_HOME = Path(__file__).parents[2] / "build" / "lab-tests"


@dataclass(frozen=True, slots=True)
class LabNode:
    """A node, e.g. "lab1"."""

    lab: Lab
    name: str

    @property
    def url(self) -> str:
        return f"ssh://{self.name}"

    @property
    def environ(self) -> dict[str, str]:
        """Environment for a wirespeed that must find the node's ssh configuration."""
        return {**os.environ, "XDG_STATE_HOME": str(_HOME)}

    def runner(self) -> SshRunner:
        """Return a Runner, to be used as a context manager."""
        return self.lab.node(self.name).runner()

    def wirespeed(self, *words: str, timeout_s: float = 600) -> subprocess.CompletedProcess[str]:
        """Run a wirespeed command that must find the node's ssh configuration."""
        return subprocess.run(
            [sys.executable, "-m", "wirespeed.cli.main", *words],
            env=self.environ, capture_output=True, text=True, timeout=timeout_s, check=False,
        )  # fmt: skip

    def reboot(self) -> None:
        self.lab.reboot(self.name)

    def power_cycle(self) -> None:
        self.lab.power_cycle(self.name)

    def renew(self) -> None:
        """Replace all nodes by new ones with fresh disks."""
        self.lab.down()
        start(self.lab)


def images() -> ImageCache:
    return ImageCache(images_directory(os.environ), LocalRunner())


def start(lab: Lab) -> None:
    lab.up(images(), nodes=2 if WHOLE else 1)


@contextmanager
def lab_while(start: Callable[[Lab], object]) -> Iterator[Lab]:
    """Provide a testbed while the block runs. start: brings it up."""
    lab = Lab(_HOME / "wirespeed", LocalRunner())
    lab.down()
    try:
        start(lab)
        yield lab
    finally:
        lab.down()
        shutil.rmtree(_HOME)


@pytest.fixture(scope="session")
def emulated_lab() -> Iterator[Lab]:
    """Provide the testbed."""
    with lab_while(start) as lab:
        yield lab


@pytest.fixture(scope="session")
def lab_node(emulated_lab: Lab) -> LabNode:
    """Provide the first node."""
    return LabNode(emulated_lab, "lab1")


@pytest.fixture(scope="session")
def lab_pair(emulated_lab: Lab) -> tuple[LabNode, LabNode]:
    """Provide both nodes, joined by cables; for tests marked `lab(whole=True)`."""
    return LabNode(emulated_lab, "lab1"), LabNode(emulated_lab, "lab2")


@pytest.fixture
def lab_way(lab_node: LabNode, monkeypatch: pytest.MonkeyPatch) -> str:
    """Provide the first node's address, which `reach` in this process also understands."""
    monkeypatch.setenv("XDG_STATE_HOME", lab_node.environ["XDG_STATE_HOME"])
    return lab_node.url
