# SPDX-License-Identifier: Apache-2.0
"""The verb bisect on plans, host files and hosts of the fleet."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.apply_plans import lab_plan
from tests.support.fake_rig import FACTS, FakeHost
from tests.unit.cli.conftest import Command
from wirespeed.host.file import HOST_FILE
from wirespeed.model.host.ovs_facts import OvsFacts
from wirespeed.model.plan.plan import Decision, Plan
from wirespeed.model.study.spec import Frames
from wirespeed.plan.plan_file import PLAN_FILE

POINT = ("--study", "quickstart", "--set", "topology.kind=p2p", "--set", "traffic.frame=64")
SHORT = ("--pairs", "3", "--json")


@pytest.fixture(autouse=True)
def _settings(host: FakeHost) -> None:
    """Let the EMC and the number of queues change the rate, and nothing else."""

    def capacity(frames: Frames) -> float:
        vswitch = frames.sut.vswitch
        return 2e6 * (1.2 if vswitch.ovs.emc else 1.0) * (0.9 if vswitch.rx_queues > 1 else 1.0)

    host.capacity_of = capacity


@pytest.fixture
def hosts(tmp_path: Path) -> tuple[str, str]:
    """Write two host files that differ in four keys of Open vSwitch, and in the kernel."""
    configs = (
        {"pmd-rxq-assign": "group", "emc-insert-inv-prob": "50"},
        {"smc-enable": "true", "emc-insert-inv-prob": "0", "tx-flush-interval": "50"},
    )
    paths = []
    for name, config in zip(("one", "two"), configs, strict=True):
        kernel = replace(FACTS.kernel, release=f"6.1.{len(paths)}")
        facts = replace(FACTS, kernel=kernel, ovs=OvsFacts("3.5.0", True, config))
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(HOST_FILE.document(facts)))
        paths.append(str(path))
    return paths[0], paths[1]


def test_bisect_hosts_names_the_key_that_matters_and_lists_the_others(
    wirespeed: Command, hosts: tuple[str, str]
) -> None:
    ended = wirespeed("bisect", *hosts, *POINT, *SHORT)
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    assert document["blamed"] == ["Open vSwitch emc-insert-inv-prob"]
    assert document["proven"]
    whys = {each["difference"].split(":")[0]: each["why"] for each in document["not_tried"]}
    assert whys["kernel"] == "it needs a reboot, and bisect makes none"
    assert whys["Open vSwitch tx-flush-interval"] == "no key of a study sets it"


def test_bisect_fleet_members_are_found_by_name(wirespeed: Command, hosts: tuple[str, str]) -> None:
    for name, path in zip(("left", "right"), hosts, strict=True):
        file = Path(path).parent / name / "snapshot.json"
        wirespeed("fleet", "snapshot", "--host", path, "--name", name, "-o", str(file))
        assert wirespeed("fleet", "add", str(file)).code == 0
    ended = wirespeed("bisect", "left", "right", *POINT, *SHORT)
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["blamed"] == ["Open vSwitch emc-insert-inv-prob"]
    ended = wirespeed("bisect", "left", "rihgt", *POINT)
    assert ended.code == 2
    assert "Did you mean right?" in ended.err


RECORDED = Path(__file__).parents[2] / "hosts"


def test_bisect_recorded_folders_are_read(wirespeed: Command) -> None:
    ended = wirespeed(
        "bisect", *(str(RECORDED / name) for name in ("s3-r740xd", "s1-dppd")), *POINT
    )
    assert ended.code == 2
    assert "no difference between A and B can be tried here" in ended.err
    assert "it is hardware or firmware of a host" in ended.err


def plan_with(rx_queues: int, descriptors: int) -> Plan:
    plan = lab_plan()
    host = plan.hosts[0]
    assert host.vswitch is not None
    vswitch = replace(
        host.vswitch, rx_queues=Decision(rx_queues, "of the test"),
        descriptors=Decision(descriptors, "of the test"),
    )  # fmt: skip
    return replace(plan, hosts=(replace(host, vswitch=vswitch, kernel=host.kernel[:-rx_queues]),))


@pytest.fixture
def plans(tmp_path: Path) -> tuple[str, str]:
    """Write two plans that differ in queues, descriptors and the kernel command line."""
    paths = []
    for plan in (plan_with(1, 1024), plan_with(2, 512)):
        path = tmp_path / f"plan{len(paths)}.json"
        path.write_text(json.dumps(PLAN_FILE.document(plan)))
        paths.append(str(path))
    return paths[0], paths[1]


def test_bisect_plans_names_the_decision_that_matters(
    wirespeed: Command, plans: tuple[str, str]
) -> None:
    ended = wirespeed("bisect", *plans, *POINT, *SHORT)
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    assert document["blamed"] == ["host lab1: rx_queues"]
    assert document["proven"]
    whys = {each["difference"]: each["why"] for each in document["not_tried"]}
    assert any("kernel" in name and "reboot" in why for name, why in whys.items())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("{plan}", "{host}"), "is a plan, and"),
        (("{host}", "absent"), "'absent' is neither a file, a recorded folder nor a host"),
        (("{host}", "{host}"), "no difference between A and B can be tried here"),
        (("{host}", "{host}", "--set-b", "traffic.frame=64"), "--set-b: with --study"),
    ],
)
def test_bisect_bad_sides_are_one_error(
    wirespeed: Command, hosts: tuple[str, str], plans: tuple[str, str], words: tuple[str, ...],
    said: str,
) -> None:  # fmt: skip
    given = [word.format(host=hosts[0], plan=plans[0]) for word in words]
    ended = wirespeed("bisect", *given, *POINT)
    assert ended.code == 2
    assert said in " ".join(ended.err.split())
