# SPDX-License-Identifier: Apache-2.0
"""Test the ssh configuration of hosts that wirespeed has started, and of any other host."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirespeed.remote.reach import reach
from wirespeed.remote.state import (
    forget_ssh_config,
    keep_ssh_config,
    ssh_config_of,
    state_directory,
)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "wirespeed"


def address(url: str) -> str:
    with reach(url) as runner:
        return runner.address


def test_a_host_of_ours_is_reached_by_its_own_configuration(state: Path, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host lab1\n")
    keep_ssh_config(state, "lab1", config)
    assert address("ssh://lab1") == f"ssh://lab1?config={state}/ssh/lab1"
    assert address("ssh://lab2") == "ssh://lab2"
    assert address("ssh://lab1?config=/other") == "ssh://lab1?config=/other"
    keep_ssh_config(state, "lab1", config)
    forget_ssh_config(state, "lab1")
    forget_ssh_config(state, "lab1")
    assert address("ssh://lab1") == "ssh://lab1"


def test_the_way_to_a_host_that_is_gone_is_not_taken(state: Path, tmp_path: Path) -> None:
    keep_ssh_config(state, "lab1", tmp_path / "gone")
    assert ssh_config_of(state, "lab1") is None


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "", "-F"])
def test_a_name_that_is_no_host_name_has_no_ssh_file(state: Path, name: str) -> None:
    (state / "ssh").mkdir(parents=True)
    (state / "x").touch()
    assert ssh_config_of(state, name) is None


def test_the_directory_is_the_one_of_the_xdg_specification() -> None:
    assert state_directory({"XDG_STATE_HOME": "/s", "HOME": "/h"}) == Path("/s/wirespeed")
    assert state_directory({"HOME": "/h"}) == Path("/h/.local/state/wirespeed")
