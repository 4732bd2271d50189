# SPDX-License-Identifier: Apache-2.0
"""Recorded hosts are audited through ansible-playbook into a store, as a user would."""

from __future__ import annotations

import json
from pathlib import Path

from tests.ansible.fleet import ROOT, Fleet
from wirespeed.store.snapshots import newest_snapshots
from wirespeed.store.store import Store

HOSTS = ROOT / "tests" / "hosts"
AUDIT = "wirespeed.nfv.audit"


def test_three_hosts_are_audited_into_the_store(tmp_path: Path, collections: Path) -> None:
    recordings = {
        "compute-1": str(HOSTS / "s3-r740xd"),
        "compute-2": str(HOSTS / "s3-r740xd"),
        "old": str(HOSTS / "s0-compute"),
    }
    fleet = Fleet(tmp_path, collections, str(tmp_path / "store.sqlite"), recordings)
    done = fleet.play(AUDIT)
    assert done.returncode == 0, done.stdout + done.stderr
    with Store(fleet.store) as store:
        found = {snapshot.member.name: snapshot for snapshot in newest_snapshots(store)}
    assert sorted(found) == sorted(recordings)
    assert found["compute-1"].hardware == found["compute-2"].hardware != found["old"].hardware
    assert found["compute-1"].facts.host == "s3-r740xd"
    assert json.loads((fleet.fetched / "old" / "snapshot.json").read_text())["audit"]["findings"]
