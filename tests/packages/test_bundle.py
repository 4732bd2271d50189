# SPDX-License-Identifier: Apache-2.0
"""Install the offline bundle where there is no network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.packages.commands import PLAIN, PLANNED, ROOT, Log

pytestmark = pytest.mark.packages(whole=True)


def test_bundle_installs_and_measures_next_to_another_without_a_network(tmp_path: Path) -> None:
    archive = ROOT / "build/wirespeed-bundle.tar.gz"
    subprocess.run(
        ["sha256sum", "--check", "--quiet", f"{archive}.sha256"], cwd=archive.parent, check=True
    )
    bundle, prefix, log = tmp_path / "bundle", tmp_path / "opt", Log("bundle")
    bundle.mkdir()
    environment = {**PLAIN, "HOME": str(tmp_path), "PYTHON": sys.executable}

    def run(*argv: str | Path) -> str:
        return log.run(["unshare", "--net", *argv], environment, entering=2)

    run("tar", "-C", bundle, "-xzf", archive)
    assert "wirespeed doctor" in run(bundle / "install.sh", prefix)
    installed = prefix / "bin/wirespeed"
    first = installed.resolve()
    run(installed, "plan", *PLANNED, "-o", tmp_path / "plan.json")
    assert "wire, 64 B" in run(installed, "run", "wire")
    run(bundle / "install.sh", prefix)
    assert installed.resolve() == first
    log.show(prefix)
    # Another version: the first stays next to it, and reads the runs of both.
    with (bundle / "wirespeed.cdx.json").open("a") as file:
        file.write("\n")
    sums = 'rm SHA256SUMS; sums=$(sha256sum -- *); echo "$sums" >SHA256SUMS'
    subprocess.run(["sh", "-ec", sums], cwd=bundle, check=True)
    run(bundle / "install.sh", prefix)
    assert installed.resolve() != first
    assert "wire, 64 B" in run(installed, "run", "wire")
    assert run(first, "runs", "list").count("wire") == 2
