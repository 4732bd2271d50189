# SPDX-License-Identifier: Apache-2.0
"""Tune a real Open vSwitch: a setting that is wrong on purpose is found, a kill leaves nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")
STAT = Path("/proc/sys/vm/stat_interval")
POOL = Path("/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages")
POINT = (
    "quickstart", "--set", "topology.kind=p2p", "--set", "traffic.frame=64",
    "--set", "sut.vswitch.ovs.emc=false",
)  # fmt: skip
FACTORS = f"""
[[factor]]
name = "stat interval"
host = {{ "{STAT}" = "119" }}

[[factor]]
name = "EMC"
"sut.vswitch.ovs.emc" = true
"""

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="the switch and the generator poll on a CPU each"
)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "wirespeed.cli.main", *words]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "WIRESPEED_STORE": str(tmp_path / "runs.sqlite"),
    }


@pytest.mark.fleet
@pytest.mark.root
def test_tune_emc_off_on_purpose_is_found_and_proven(
    environment: dict[str, str], tmp_path: Path
) -> None:
    before = (THP.read_text(), STAT.read_text(), POOL.read_text())
    done = subprocess.run(
        command("tune", *POINT, "--only", "EMC", "--only", "SMC", "--json"),
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, timeout=900, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["overrides"]["sut.vswitch.ovs.emc"] is True
    assert found["confirmation"]["low"] > 0
    assert (THP.read_text(), STAT.read_text(), POOL.read_text()) == before


@pytest.mark.root
def test_tune_killed_in_a_measurement_is_put_back_by_clean(
    environment: dict[str, str], tmp_path: Path
) -> None:
    before = (STAT.read_text(), POOL.read_text())
    (tmp_path / "factors.toml").write_text(FACTORS)
    with subprocess.Popen(
        command("tune", *POINT, "--factors", "factors.toml"),
        cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        # A line of a measurement comes when it is complete: the next one is then under way.
        for line in process.stderr:
            if "screening" in line:
                break
        process.send_signal(signal.SIGKILL)
    subprocess.run(command("clean"), env=environment, check=True)
    assert (STAT.read_text(), POOL.read_text()) == before
    journal = Path(environment["XDG_STATE_HOME"]) / "wirespeed" / "journal"
    assert not list(journal.iterdir())
