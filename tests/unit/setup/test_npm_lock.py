# SPDX-License-Identifier: Apache-2.0
"""Test that npm installs exactly the packages in setup/locks/npm."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.speedtest.ndt7_js_package import LOCK, PACKAGE, installed, integrity


def test_npm_lock_every_package_has_a_sha512() -> None:
    hashes = integrity(LOCK / "package-lock.json")
    assert f"node_modules/{PACKAGE}" in hashes
    assert all(re.fullmatch(r"sha512-[A-Za-z0-9+/]{86}==", str(each)) for each in hashes.values())


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_npm_package_with_another_hash_is_not_installed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lock = tmp_path / "lock"
    shutil.copytree(LOCK, lock)
    file = lock / "package-lock.json"
    file.write_text(re.sub("sha512-.{8}", "sha512-AAAAAAAA", file.read_text()), encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError):
        installed(lock, tmp_path / "npm")
    assert "EINTEGRITY" in capfd.readouterr().err
    assert not (tmp_path / "npm" / "node_modules" / PACKAGE).exists()
