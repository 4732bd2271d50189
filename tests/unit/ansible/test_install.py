# SPDX-License-Identifier: Apache-2.0
"""Test that the role installs wirespeed from the bundle alone, and replaces it by a new one."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ansible_fleet import ROOT, Fleet

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
        tmp_path, collections, str(tmp_path / "store.sqlite"), {"bare": str(tmp_path / "absent")},
        {"bare": {"ansible_connection": "local"}},
    )  # fmt: skip

    def play() -> subprocess.CompletedProcess[str]:
        # No index can be reached: what is not in the bundle cannot be installed.
        return fleet.play(str(playbook), "-e", json.dumps(variables))

    def install() -> str:
        done = play()
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "changed=0" not in install()
    program = prefix / "bin" / "wirespeed"
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("wirespeed ")
    subprocess.run([program, "fleet", "snapshot", "--name", "bare"], check=True, cwd=tmp_path)
    assert "changed=0" in install()
    digest, old = bundle.with_name(f"{bundle.name}.sha256"), program.resolve()
    packed = bundle.read_bytes()
    bundle.write_bytes(packed + b"\0")
    digest.write_text(f"{'0' * 64}  {bundle}\n")
    refused = play()
    assert refused.returncode != 0
    assert "its SHA-256 is " in refused.stdout + refused.stderr
    assert program.resolve() == old
    made = digest_of(bundle, digest)
    assert "changed=0" not in install()
    new = program.resolve()
    assert new.parts[-3] == made[:12]
    bundle.write_bytes(packed)
    damage_a_wheel(bundle)
    digest_of(bundle, digest)
    refused = play()
    assert refused.returncode != 0
    assert ".whl: FAILED" in refused.stdout + refused.stderr
    assert program.resolve() == new


def digest_of(bundle: Path, digest: Path) -> str:
    """Write the digest of an archive next to it, as who makes it does."""
    made = hashlib.sha256(bundle.read_bytes()).hexdigest()
    digest.write_text(f"{made}  {bundle}\n")
    return made


def damage_a_wheel(bundle: Path) -> None:
    """Add an octet to one wheel of an archive, and to nothing else."""
    folder = bundle.with_name("unpacked")
    folder.mkdir()
    subprocess.run(["tar", "-C", folder, "-xzf", bundle], check=True)
    wheel = next(folder.glob("numpy-*.whl"))
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    subprocess.run(["tar", "-C", folder, "-czf", bundle, "."], check=True)
