# SPDX-License-Identifier: Apache-2.0
"""Check that every file that a user names is written whole, with one error and exit code."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from wirespeed.cli import output_file
from wirespeed.cli.output_file import write_output
from wirespeed.model.errors import BadInput, WirespeedError


@pytest.mark.parametrize("private", [False, True])
def test_write_output_folder_is_wrong_input(tmp_path: Path, *, private: bool) -> None:
    with pytest.raises(BadInput, match="cannot be written: Is a directory"):
        write_output(tmp_path, "text", private=private)


def test_write_output_absent_folder_is_wrong_input_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written: No such file"):
        write_output(tmp_path / "absent" / "file", "text")
    assert list(tmp_path.iterdir()) == []


def test_write_output_full_disk_is_a_failure_and_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, f"{len(text)} do not fit", str(path))

    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(output_file, "write_whole", full)
    with pytest.raises(WirespeedError, match="cannot be written") as failed:
        write_output(tmp_path / "file", "new")
    assert failed.value.exit_code == 1
    assert (tmp_path / "file").read_text() == "old"


def test_write_output_link_stays_a_link_and_a_device_a_device(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_output(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "text"
    write_output(Path(os.devnull), "text")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_write_output_private_file_is_its_owners_alone(tmp_path: Path) -> None:
    write_output(tmp_path / "new" / "file", "text", private=True)
    assert stat.S_IMODE((tmp_path / "new" / "file").stat().st_mode) == 0o600
