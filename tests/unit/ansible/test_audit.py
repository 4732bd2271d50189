# SPDX-License-Identifier: Apache-2.0
"""Test the audit of recorded hosts through ansible-playbook into a store.

A play of Ansible takes seconds; so each asserts on several things.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.ansible_fleet import BIN, ROOT, Fleet, program
from tests.support.postgres import cluster
from wirespeed.store.snapshots import newest_snapshots
from wirespeed.store.store import Store

HOSTS = ROOT / "tests" / "hosts"
NEW, OLD = str(HOSTS / "s3-r740xd"), str(HOSTS / "s0-compute")
AUDIT = "wirespeed.nfv.audit"


def stored(url: str) -> dict[str, str]:
    """Return the hosts in the store and their hardware."""
    with Store(url) as store:
        return {one.member.name: one.hardware for one in newest_snapshots(store)}


def test_hosts_are_audited_into_the_store_and_become_an_inventory(
    tmp_path: Path, collections: Path
) -> None:
    recordings = {"compute-1": NEW, "compute-2": NEW, "old": OLD}
    fleet = Fleet(tmp_path, collections, str(tmp_path / "store.sqlite"), recordings)
    checked = fleet.play(AUDIT, "--check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert not (tmp_path / "hosts").exists(), "check mode wrote a file"
    done = fleet.play(AUDIT)
    assert done.returncode == 0, done.stdout + done.stderr
    found = stored(fleet.store)
    assert sorted(found) == sorted(recordings)
    assert found["compute-1"] == found["compute-2"] != found["old"]
    assert json.loads((fleet.fetched / "old" / "snapshot.json").read_text())["audit"]["findings"]

    source = tmp_path / "fleet.wirespeed.yml"
    source.write_text(
        "plugin: wirespeed.nfv.store\n"
        f"executable: {program(tmp_path, 'controller')}\n"
        "keyed_groups: [{key: wirespeed_verdict, prefix: worst}]\n"
    )
    listed = subprocess.run(
        [BIN / "ansible-inventory", "-i", source, "--list"],
        env=fleet.environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    inventory = json.loads(listed.stdout)
    assert inventory[f"hardware_{found['old']}"]["hosts"] == ["old"]
    assert sorted(inventory["worst_high"]["hosts"]) == ["compute-1", "compute-2"]
    # Ansible marks what comes from a source that it does not trust.
    variables = json.loads(
        json.dumps(inventory["_meta"]["hostvars"]["compute-1"]),
        object_hook=lambda value: value.get("__ansible_unsafe", value),
    )
    assert variables["ansible_host"] == "compute-1"
    assert variables["wirespeed_hardware"] == found["compute-1"]


@pytest.mark.root
def test_every_fault_has_one_message_and_the_others_go_on(
    tmp_path: Path, small_disk: Path, collections: Path
) -> None:
    """Unreachable, an old wirespeed, a full disk, none installed; then the same play again."""
    (small_disk / "filler").write_bytes(b"x" * 490 * 1024)
    aged = tmp_path / "aged"
    aged.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "wirespeed 0.0.9" && exit\n'
        "echo \"Error: No such command 'fleet'.\" >&2; exit 2\n"
    )
    aged.chmod(0o755)
    fleet = Fleet(
        tmp_path, collections, str(tmp_path / "store.sqlite"),
        {"good": NEW, "gone": "unreachable", "full": NEW, "aged": NEW, "bare": NEW},
        {
            "full": {"wirespeed_results": str(small_disk)},
            "aged": {"wirespeed_executable": str(aged)},
            "bare": {"wirespeed_executable": "/opt/none/wirespeed"},
        },
    )  # fmt: skip
    done = fleet.play(AUDIT)
    told = {
        name: [line for line in done.stdout.splitlines() if line.startswith(f"fatal: [{name}]")]
        for name in fleet.recordings
    }
    assert {name: len(lines) for name, lines in told.items()} == {
        "good": 0, "gone": 1, "full": 1, "aged": 1, "bare": 1,
    }, done.stdout  # fmt: skip
    assert "no route to this host" in told["gone"][0]
    assert "cannot be written: No space left on device" in told["full"][0]
    assert "is wirespeed 0.0.9, which is older than this collection" in told["aged"][0]
    assert "role wirespeed.nfv.install" in told["bare"][0]
    assert list(stored(fleet.store)) == ["good"]

    (small_disk / "filler").unlink()
    Fleet(tmp_path, collections, fleet.store, fleet.recordings, {}).play(
        AUDIT, "--limit", "full,aged,localhost"
    )
    assert sorted(stored(fleet.store)) == ["aged", "full", "good"]


@pytest.mark.root
@pytest.mark.fleet
def test_a_database_that_is_gone_loses_nothing(tmp_path: Path, collections: Path) -> None:
    with cluster() as postgresql:
        fleet = Fleet(tmp_path, collections, postgresql.url, {"a": NEW, "b": OLD})
        with Store(fleet.store):
            postgresql.stop()
        done = fleet.play(AUDIT)
        assert done.returncode != 0
        assert "Check that the database can be reached" in done.stdout
        assert sorted(path.parent.name for path in fleet.fetched.rglob("*.json")) == ["a", "b"]
        postgresql.start()
        again = [str(program(tmp_path, "controller")), "fleet", "add", str(fleet.fetched)]
        for said in ("2 added, 0 known already", "0 added, 2 known already"):
            added = subprocess.run(
                again, env=fleet.environment(), capture_output=True, text=True, check=True
            )
            assert said in added.stdout
        assert sorted(stored(fleet.store)) == ["a", "b"]
