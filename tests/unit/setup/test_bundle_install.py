# SPDX-License-Identifier: Apache-2.0
"""Test what the bundle's install.sh refuses; make test-packages installs a real one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

INSTALL = Path(__file__).parents[3] / "setup/bundle-install.sh"
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Provide a bundle without wheels."""
    folder = tmp_path / "bundle"
    folder.mkdir()
    shutil.copy(INSTALL, folder / "install.sh")
    (folder / "python-version").write_text(f"{HERE}\n")
    return folder


def install(bundle: Path, python: str = sys.executable) -> str:
    """Return its error; nothing is installed."""
    sums = subprocess.run(
        ["sha256sum", "install.sh"], cwd=bundle, check=True, capture_output=True, text=True
    )
    if not (bundle / "SHA256SUMS").exists():
        (bundle / "SHA256SUMS").write_text(sums.stdout)
    prefix = bundle / "prefix"
    done = subprocess.run(
        [bundle / "install.sh", prefix], env={"PATH": "/usr/bin:/bin", "PYTHON": python},
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert not prefix.exists()
    return done.stderr


def test_install_changed_file_is_refused(bundle: Path) -> None:
    (bundle / "SHA256SUMS").write_text(f"{'0' * 64}  install.sh\n")
    error = install(bundle)
    assert "install.sh: FAILED" in error
    assert "unpack the bundle again" in error


def test_install_bundle_for_another_python_is_refused(bundle: Path) -> None:
    (bundle / "python-version").write_text("3.7\n")
    assert f"Python {HERE}, the bundle is for 3.7" in install(bundle)


def test_install_absent_python_is_named(bundle: Path) -> None:
    assert "/nowhere/python: cannot be started" in install(bundle, "/nowhere/python")
