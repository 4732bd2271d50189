# SPDX-License-Identifier: Apache-2.0
"""Test that all packages have the version of the project."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_packages_have_the_version_of_the_project() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    native = tomllib.loads((ROOT / "dataplane/wheel/pyproject.toml").read_text())["project"]
    assert native["version"] == version
    assert native["dependencies"] == [f"wirespeed=={version}"]
    speedtest = tomllib.loads((ROOT / "speedtest/Cargo.toml").read_text())
    assert speedtest["workspace"]["package"]["version"] == version
    for name in ("compose.yaml", "wirespeed-speedtest.container"):
        text = (ROOT / "speedtest/dist" / name).read_text()
        assert re.findall(r"wirespeed:([\d.]+)", text) == [version], name
    first = (ROOT / "debian/changelog").read_text().splitlines()[0]
    assert re.fullmatch(rf"wirespeed \({re.escape(version)}\) \S+; urgency=\w+", first)
