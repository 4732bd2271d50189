# SPDX-License-Identifier: Apache-2.0
"""Check --from of inspect and audit, and a plan for a host that was read so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hosts import sosreport
from tests.unit.cli.conftest import Command
from tests.unit.host.test_imported import RECORDING, SOS, WHOLE
from tests.unit.host.test_imported_lstopo import lstopo_xml

WORKLOAD = str(Path(__file__).parents[3] / "examples" / "s2-chains" / "workload.toml")


@pytest.fixture
def files() -> dict[str, str]:
    """Write a sosreport, a must-gather of two nodes and an XML of lstopo."""
    here = Path()
    sosreport.write(here / "sos.tar.gz", SOS)
    pack = sosreport.must_gather(here, RECORDING, WHOLE, ["w1", "w2"])
    sosreport.write(here / "mg.tar.gz", pack, top="must-gather.local.1")
    (here / "topology").write_text(lstopo_xml(), encoding="utf-8")
    return {"sos": "sos.tar.gz", "gather": "mg.tar.gz", "lstopo": "topology"}


@pytest.mark.parametrize("kind", ["sos", "gather", "lstopo"])
def test_imported_host_is_shown_audited_and_kept(
    wirespeed: Command, files: dict[str, str], kind: str
) -> None:
    words = ["--from", files[kind], *(["--node", "w2"] if kind == "gather" else [])]
    assert wirespeed("inspect", *words).code == 0
    kept = wirespeed("inspect", *words, "--json").out
    Path("host.json").write_text(kept, encoding="utf-8")
    report = json.loads(wirespeed("audit", *words, "--json").out)
    assert report == json.loads(wirespeed("audit", "--host", "host.json", "--json").out)
    reasons = [each["found"] for each in report["findings"] if each["status"] == "not checked"]
    assert reasons
    assert all(reasons)


def test_imported_sosreport_is_planned(wirespeed: Command, files: dict[str, str]) -> None:
    kept = wirespeed("inspect", "--from", files["sos"], "--json").out
    Path("host.json").write_text(kept, encoding="utf-8")
    assert wirespeed("plan", WORKLOAD, "--host", "host.json", "-o", "plan.json").code == 0


def test_imported_must_gather_without_node_names_both(
    wirespeed: Command, files: dict[str, str]
) -> None:
    ended = wirespeed("audit", "--from", files["gather"])
    assert ended.code == 2
    assert "has 2 nodes" in ended.err
    assert "Give --node with one of: w1, w2." in ended.err


@pytest.mark.parametrize("verb", ["inspect", "audit"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--node", "w1"], "--node names a node of a file"),
        (["--from", "sos.tar.gz", "--host", "ssh://a"], "--from names a host"),
        (["--from", "sos.tar.gz", "--node", "w1"], "--node names a node of a must-gather"),
    ],
)
def test_imported_options_that_do_not_fit_end_with_2(
    wirespeed: Command, files: dict[str, str], verb: str, words: list[str], said: str
) -> None:
    assert files
    ended = wirespeed(verb, *words)
    assert (ended.code, said in ended.err) == (2, True)
