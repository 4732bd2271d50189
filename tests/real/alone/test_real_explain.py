# SPDX-License-Identifier: Apache-2.0
"""Measure a switch with real frames, explain it, and try the proposal.

No rate is asserted: what a change gains here depends on what else runs on this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.report.test_explained import problems

# An MRR alone takes the fewest trials, and no rate is asserted. Rings that are too small lose
# frames whatever else runs here, so there is a change to try.
STUDY = (
    "quickstart", "--set", "topology.kind=p2p", "--set", "traffic.frame=64", "--set",
    "search.kind=mrr", "--set", "search.latency=false", "--set", "sut.vswitch.descriptors=64",
    "--set", "search.trial_s=0.2", "--set", "search.time_limit_s=20",
)  # fmt: skip


def wirespeed(store: Path, *arguments: str) -> str:
    """Return what it prints; state and run directories are the fixture's."""
    done = subprocess.run(
        [sys.executable, "-m", "wirespeed.cli.main", *arguments, "--store", str(store)],
        env=os.environ | {"COLUMNS": "100"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("needs_root")
def test_a_measured_switch_is_explained_and_its_change_tried(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    wirespeed(store, "run", *STUDY)
    document = json.loads(wirespeed(store, "explain", "latest", "--try", "--pairs", "1", "--json"))
    assert problems(document) == []
    [point] = document["points"]
    assert_resources(point)
    assert_path(point, json.loads(wirespeed(store, "report", "quickstart-1", "--json")))
    assert_tried(document, json.loads(wirespeed(store, "report", "latest", "--json")))
    assert "Path at " in wirespeed(store, "explain", "quickstart-1")


def assert_resources(point: dict[str, Any]) -> None:
    """Check that the PMD thread's share and its cycles per frame are present."""
    found = {use["resource"]: use for use in point["resources"]}
    assert len(found) == 9
    pmd = {figure["unit"]: figure["value"] for figure in found["switch CPU"]["evidence"]}
    assert 0 < pmd["ratio"] <= 1.1
    assert pmd["cycles"] > pmd["ns"] > 0  # every server's counter has more than 1 GHz
    assert found["VNF CPU"]["state"] == "none here"


def assert_path(point: dict[str, Any], report: dict[str, Any]) -> None:
    """Check that what enters at one end leaves at the other, or is lost on the picture."""
    path = point["path"]
    assert [hop["name"] for hop in path["hops"]] == [
        "generator", "Open vSwitch", "generator, receiving",
    ]  # fmt: skip
    trial = report["points"][0]["trials"][path["trial"] - 1]
    lost = sum(loss["frames"] for place in (*path["hops"], *path["links"])
               for loss in place["losses"])  # fmt: skip
    assert path["elsewhere"] == []
    assert trial["offered"] == trial["received"] + trial["handled"] + lost
    first, last = path["links"]
    assert first["share"] >= last["share"] > 0


def assert_tried(document: dict[str, Any], report: dict[str, Any]) -> None:
    """Check that the run has both points of the pair, and that only the proposed keys differ.

    tests/unit/cli/test_explain.py checks the order of several pairs.
    """
    tried = document["tried"]
    assert tried["run"] == report["run"]["id"] == "try-quickstart-1"
    labels = [point["label"] for point in report["points"]]
    assert labels == ["as it was, pair 1", "changed, pair 1"]
    assert report["run"]["complete"]
    assert tried["pairs_measured"] == 1
    for change in tried["keys"]:
        *tables, key = change["key"].split(".")
        was, now = (point["parameters"] for point in report["points"][:2])
        for table in tables:
            was, now = was[table], now[table]
        assert now[key] == change["value"] != was[key]
    # A pair within which the hypervisor moved the CPUs does not count.
    gain = tried["gain"]
    assert gain is None or (gain["pairs"], gain["confidence"]) == (1, 0.0)
