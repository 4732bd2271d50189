# SPDX-License-Identifier: Apache-2.0
"""Test that results are not written where another user could exchange them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from wirespeed.document.private_file import make_private_folder, write_private
from wirespeed.store.errors import StoreError
from wirespeed.store.store import Store

ATTACKER = 65534


def planted_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "shared" / "wirespeed"
    folder.mkdir(parents=True)
    os.chown(folder, ATTACKER, ATTACKER)
    return folder


def planted_link(tmp_path: Path) -> Path:
    (tmp_path / "ours").mkdir()
    link = tmp_path / "wirespeed"
    link.symlink_to(tmp_path / "ours")
    os.lchown(link, ATTACKER, ATTACKER)
    return link


@pytest.mark.root
@pytest.mark.parametrize("plant", [planted_folder, planted_link])
@pytest.mark.parametrize("below", ["", "new", "new/er"])
def test_folder_of_another_user_is_refused(tmp_path: Path, plant: object, below: str) -> None:
    assert callable(plant)
    folder = plant(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(PermissionError, match="belongs to another user"):
        write_private(folder / below / "snapshot.json", "{}")
    with pytest.raises(StoreError, match="belongs to another user"):
        Store(str(folder / below / "runs.sqlite"))
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.root
def test_folder_of_who_called_sudo_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_UID", str(ATTACKER))
    write_private(planted_folder(tmp_path) / "snapshot.json", "{}")


def test_folder_that_all_may_write_is_refused_unless_sticky(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(PermissionError, match="every user can exchange"):
        write_private(tmp_path / "snapshot.json", "{}")
    tmp_path.chmod(0o1777)
    write_private(tmp_path / "snapshot.json", "{}")


def test_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        make_private_folder(tmp_path / "a" / "b")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700


def test_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"exists|Not a directory"):
        write_private(tmp_path / "file" / "snapshot.json", "{}")
