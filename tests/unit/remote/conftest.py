# SPDX-License-Identifier: Apache-2.0
"""Provide Runners of a host behind a stand-in for ssh."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.remote.ssh_stand_in import PROGRAMS, STAND_IN
from wirespeed.remote.ssh import SshRunner
from wirespeed.remote.ssh_target import SshTarget


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[SshRunner]:
    program = tmp_path / "ssh"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    with SshRunner(SshTarget("box", "me", 2222), program=str(program)) as runner:
        yield runner


@pytest.fixture
def without_python(tmp_path: Path) -> Iterator[SshRunner]:
    """Provide a host like `ssh` whose PATH has no python3."""
    (tmp_path / "bin").mkdir()
    for name in PROGRAMS:
        found = shutil.which(name)
        assert found is not None
        (tmp_path / "bin" / name).symlink_to(found)
    program = tmp_path / "ssh"
    program.write_text(STAND_IN.replace("exec sh", f"PATH={tmp_path}/bin exec sh"))
    program.chmod(0o755)
    with SshRunner(SshTarget("box", "me", 2222), program=str(program)) as runner:
        yield runner


@pytest.fixture(params=["ssh", "without_python"])
def either(request: pytest.FixtureRequest) -> SshRunner:
    """Provide a host with python3, then one without."""
    runner: SshRunner = request.getfixturevalue(request.param)
    return runner
