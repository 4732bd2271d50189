# SPDX-License-Identifier: Apache-2.0
"""Check that inspect, plan and plan diff read a cloud, and report bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.carried_out import replies, with_vfs
from tests.support.examples import ROOT, example_host, example_plan
from tests.unit.cli.conftest import Command
from wirespeed.cloud.collect import collect
from wirespeed.cloud.recording import FILE, RecordingApi
from wirespeed.host.file import HOST_FILE
from wirespeed.plan.plan_file import write_plan

EXAMPLE = ROOT / "examples" / "s2-chains"


@pytest.fixture
def cloud(tmp_path: Path) -> str:
    """Return a recorded cloud in which the example was deployed, next to plan.json."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    plan = example_plan("s2-chains")
    recording = RecordingApi(replies(plan, [example_host("s2-chains")]))
    collect(recording)
    (folder / FILE).write_text(recording.text())
    (tmp_path / "plan.json").write_text(write_plan(plan))
    return str(folder)


def test_a_cloud_is_shown(wirespeed: Command, cloud: str) -> None:
    shown = wirespeed("inspect", "--openstack", cloud)
    assert (shown.code, shown.err) == (0, "")
    guests = example_plan("s2-chains").hosts[0].guests
    assert f"1 compute host, {len(guests)} servers" in shown.out
    assert "which CPU is on which NUMA node" in shown.out
    for guest in guests:
        assert guest.name in shown.out


def test_inspect_json_of_a_cloud_is_read_back_equal(
    wirespeed: Command, cloud: str, tmp_path: Path
) -> None:
    text = wirespeed("inspect", "--openstack", cloud, "--json").out
    written = tmp_path / "CLOUD.json"
    written.write_text(text)
    assert wirespeed("inspect", "--openstack", str(written), "--json").out == text
    again = tmp_path / "again"
    recorded = wirespeed("inspect", "--openstack", cloud, "--record", str(again), "--json")
    assert recorded.out == text
    assert (again / FILE).read_text() == (Path(cloud) / FILE).read_text()


def test_a_host_as_its_cloud_knows_it_can_be_audited(
    wirespeed: Command, cloud: str, tmp_path: Path
) -> None:
    name = example_host("s2-chains").host
    found = wirespeed("inspect", "--openstack", cloud, "--compute-host", name, "--json")
    (tmp_path / "host.json").write_text(found.out)
    told = wirespeed("audit", "--host", str(tmp_path / "host.json"), "--all")
    assert "needs `wirespeed inspect` on the host" in " ".join(told.out.split())
    assert "Not known:" in wirespeed("inspect", "--openstack", cloud, "--compute-host", name).out


def test_a_host_is_completed_by_its_cloud(wirespeed: Command, cloud: str, tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text(json.dumps(HOST_FILE.document(replace(example_host("s2-chains"), guests=()))))
    found = wirespeed("inspect", "--openstack", cloud, "--host", str(own), "--json")
    whole = json.loads(found.out)
    assert whole["cpus"] == json.loads(own.read_text())["cpus"]
    assert len(whole["guests"]) == len(example_plan("s2-chains").hosts[0].guests)


def test_a_folder_of_that_name_is_not_taken_for_the_cloud(
    wirespeed: Command, cloud: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "none.yaml"))
    (tmp_path / "prod").mkdir()
    assert "cloud 'prod' cannot be used" in wirespeed("inspect", "--openstack", "prod").err
    (tmp_path / "prod" / FILE).write_text((Path(cloud) / FILE).read_text())
    assert wirespeed("inspect", "--openstack", "prod").code == 0


def test_a_plan_is_made_around_what_runs(wirespeed: Command, cloud: str, tmp_path: Path) -> None:
    host = replace(with_vfs(example_host("s2-chains"), _sriov_port(), 16), guests=())
    (tmp_path / "host.json").write_text(json.dumps(HOST_FILE.document(host)))
    text = (EXAMPLE / "workload.toml").read_text()
    assert "keep_running = false" in text
    (tmp_path / "w.toml").write_text(text.replace("keep_running = false", ""))
    made = wirespeed(
        "plan", str(tmp_path / "w.toml"), "--host", str(tmp_path / "host.json"),
        "--openstack", cloud, "--json",
    )  # fmt: skip
    again = json.loads(made.out)
    mine = _cpus(again)
    taken = _cpus(json.loads((tmp_path / "plan.json").read_text()))
    assert taken
    assert not mine & taken
    assert mine
    assert any("servers of the names" in warning for warning in again["warnings"])


def test_a_plan_is_compared_with_its_cloud(wirespeed: Command, cloud: str, tmp_path: Path) -> None:
    plan = str(tmp_path / "plan.json")
    same = wirespeed("plan", "diff", plan, "--openstack", cloud)
    assert (same.code, same.err) == (0, "")
    assert "The cloud matches the plan in all that its API reports." in same.out
    file = Path(cloud) / FILE
    body = json.loads(file.read_text())
    body["replies"]["compute /flavors/detail?is_public=None&limit=500"].pop(0)
    file.write_text(json.dumps(body))
    (found,) = json.loads(wirespeed("plan", "diff", plan, "--openstack", cloud, "--json").out)
    assert found["where"].startswith("flavor ")
    assert (found["old"], found["new"]) == (None, "defined")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["inspect", "--openstack", ""], "names no cloud: it is empty"),
        (["inspect", "--compute-host", "x"], "--compute-host needs a cloud"),
        (["inspect", "--openstack", "CLOUD", "--compute-host", "x"], "has no compute host x"),
        (["inspect", "--openstack", "none.json"], "none.json cannot be read"),
        (["inspect", "--openstack", "/usr"], "/usr/replies.json cannot be read"),
        (["plan", "diff", "plan.json"], "1 plan given, 2 needed"),
        (
            ["plan", "diff", "plan.json", "plan.json", "--openstack", "CLOUD"],
            "2 plans given, 1 needed",
        ),
        (
            ["plan", str(EXAMPLE / "workload.toml"), "--openstack", "CLOUD",
             "--host", str(ROOT / "examples" / "s3-jumbo" / "host.json")],
            "has no compute host s3-r740xd",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_words(
    wirespeed: Command, cloud: str, arguments: list[str], said: str
) -> None:
    ended = wirespeed(*(cloud if argument == "CLOUD" else argument for argument in arguments))
    assert ended.code == 2
    assert said in ended.err
    assert "Traceback" not in ended.err


def _sriov_port() -> str:
    plan = example_plan("s2-chains")
    return next(nic.address for nic in plan.hosts[0].nics if nic.use == "sriov")


def _cpus(plan: object) -> set[int]:
    assert isinstance(plan, dict)
    return {
        cpu
        for host in plan["hosts"]
        for guest in host["guests"]
        for node in guest["nodes"]
        for _, cpu in node["pins"]
    }
