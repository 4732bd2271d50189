# SPDX-License-Identifier: Apache-2.0
"""Test that a host remembers the highest token, rejects a lower one, and admits one at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirespeed.remote.fence import Fenced, check_not_leased, fenced
from wirespeed.remote.local import LocalRunner

HOST = LocalRunner("target")


def test_a_lower_token_is_refused(tmp_path: Path) -> None:
    folder = str(tmp_path / "state")
    for token in (3, 3, 7):
        with fenced(HOST, token, folder):
            pass
    with pytest.raises(Fenced, match="was shown token 7, ours is 6"), fenced(HOST, 6, folder):
        pytest.fail("let in")
    with fenced(HOST, 8, folder):
        pass


def test_one_at_a_time(tmp_path: Path) -> None:
    told = "in use by the lease with token 1, not by ours, 2"
    with (
        fenced(HOST, 1, str(tmp_path)),
        pytest.raises(Fenced, match=told),
        fenced(HOST, 2, str(tmp_path)),
    ):
        pytest.fail("let in")
    with fenced(HOST, 2, str(tmp_path)):
        pass


def test_check_not_leased_refuses_while_a_lease_is_used(tmp_path: Path) -> None:
    check_not_leased(HOST, str(tmp_path))
    assert not list(tmp_path.iterdir())
    with (
        fenced(HOST, 4, str(tmp_path)),
        pytest.raises(Fenced, match="with token 4, not by this command"),
    ):
        check_not_leased(HOST, str(tmp_path))
    check_not_leased(HOST, str(tmp_path))


def test_a_damaged_memory_lets_nobody_in(tmp_path: Path) -> None:
    (tmp_path / "fence").write_text("")
    with pytest.raises(Fenced, match="not a token"), fenced(HOST, 5, str(tmp_path)):
        pytest.fail("let in")
