# SPDX-License-Identifier: Apache-2.0
"""The role installs wirespeed from the bundle alone, once, and a new bundle replaces it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ansible.fleet import ROOT, Fleet

PLAY = """
- hosts: all
  gather_facts: false
  roles: [wirespeed.nfv.install]
"""


@pytest.mark.fleet
def test_a_host_without_internet_gets_wirespeed(tmp_path: Path, collections: Path) -> None:
    bundle = tmp_path / "bundle.tar.gz"
    subprocess.run([ROOT / "setup" / "fleet-bundle.sh", sys.executable, bundle], check=True)
    prefix = tmp_path / "opt"
    variables = {
        "wirespeed_bundle": str(bundle), "wirespeed_prefix": str(prefix),
        "wirespeed_python": sys.executable,
    }  # fmt: skip
    playbook = tmp_path / "install.yml"
    playbook.write_text(PLAY)
    fleet = Fleet(
        tmp_path, collections, str(tmp_path / "store.sqlite"), {"bare": "/nowhere"},
        {"bare": {"ansible_connection": "local"}},
    )  # fmt: skip

    def install() -> str:
        # No index can be reached: what is not in the bundle cannot be installed.
        done = fleet.play(str(playbook), "-e", json.dumps(variables))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "changed=0" not in install()
    program = prefix / "bin" / "wirespeed"
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("wirespeed ")
    subprocess.run([program, "fleet", "snapshot", "--name", "bare"], check=True, cwd=tmp_path)
    assert "changed=0" in install()
    digest = bundle.with_name(f"{bundle.name}.sha256")
    digest.write_text(f"{'0' * 64}  {bundle}\n")
    assert "changed=0" not in install()
    assert program.resolve().parts[-3] == "0" * 12
