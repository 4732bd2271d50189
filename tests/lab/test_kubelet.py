# SPDX-License-Identifier: Apache-2.0
"""Compare what a real kubelet gives containers with the plan (make test-kubelet-lab)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.lab.kubelet.node import Granted, KubeletNode, reached, static_pod
from tests.lab.kubelet.payload import payload
from tests.support.lab_node import LabNode, images, lab_while
from wirespeed.host.file import HOST_FILE
from wirespeed.lab.lab import NAMES, Lab
from wirespeed.model.plan.plan import PlacedContainer, Plan
from wirespeed.model.plan.workload import Workload
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.pods.requests import pod_plan
from wirespeed.plan.render.targets import render
from wirespeed.plan.workload.file import parse_workload

PROGRAM = os.environ.get("WIRESPEED_KUBELET", "")
WORKLOAD = Path(__file__).parent / "kubelet" / "workload.toml"
# A core of each node is the host's; each node has two for pods.
CPUS = 12
GIB = 1 << 30

pytestmark = [
    pytest.mark.lab(whole=True),
    pytest.mark.skipif(not PROGRAM, reason="needs a kubelet: make test-kubelet-lab"),
]


@dataclass(frozen=True, slots=True)
class Answered:
    """A kubelet that was given all pods of the workload, in the order of the plan."""

    plan: Plan
    node: KubeletNode
    refusals: dict[str, str]
    """Reason by pod; these pods were withdrawn."""


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answered]:
    workload = parse_workload(WORKLOAD.read_text(encoding="utf-8"), str(WORKLOAD))
    clock = Clock()
    with lab_while(_up) as lab:
        clock.say("the server answers")
        node = LabNode(lab, NAMES[0])
        plan = _plan(node, workload)
        files = render(_with_refused(plan, workload), ["kubernetes"])
        packed = payload(Path(PROGRAM), tmp_path_factory.mktemp("payload"))
        clock.say("inspected, planned, packed")
        with KubeletNode(node) as kubelet:
            kubelet.start(packed, files["kubernetes/nfv/kubelet.yaml"])
            clock.say("files are there, the kubelet is started")
            refusals = {}
            for vnf in workload.vnfs:
                rendered = files[f"kubernetes/pods/{vnf.name}.yaml"]
                reason = kubelet.admit(vnf.name, static_pod(rendered, vnf.name))
                clock.say(f"{vnf.name}: {reason or 'runs'}")
                if reason:
                    refusals[vnf.name] = reason
                    kubelet.withdraw(vnf.name)
            yield Answered(plan, kubelet, refusals)


class Clock:
    """Print the seconds of each part."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    def say(self, what: str) -> None:
        now = time.monotonic()
        print(f"{now - self._since:5.0f} s: {what}")
        self._since = now


def _up(lab: Lab) -> None:
    lab.up(images(), nodes=1, cpus=CPUS)


def _plan(node: LabNode, workload: Workload) -> Plan:
    inspected = node.wirespeed("inspect", "--host", node.url, "--json")
    assert inspected.returncode == 0, inspected.stderr
    return plan_workload(workload, [HOST_FILE.parse(inspected.stdout, node.url)])


def _with_refused(plan: Plan, workload: Workload) -> Plan:
    """Return the plan with pods that fit nowhere, which it does not render."""
    there = {pod.name for pod in plan.pods}
    [pool] = plan.pools
    added = (
        pod_plan(vnf, pool.name, workload, {}, 1) for vnf in workload.vnfs if vnf.name not in there
    )
    return replace(plan, pods=(*plan.pods, *added))


def planned(plan: Plan) -> dict[tuple[str, str], Granted]:
    """Return what the plan predicts for each container, by pod and container."""
    [host], [pool] = plan.hosts, plan.pools
    exclusive = {cpu for pod in host.pods for each in pod.containers for cpu in each.cpus}
    shared = tuple(sorted(set(pool.isolated_cpus.value) - exclusive))
    return {
        (pod.name, each.name): Granted(
            cpus=each.cpus or shared,
            nodes=tuple(sorted({block.node for block in each.memory})),
            page_limit=sum(sum(_huge(other).values()) for other in pod.containers),
            pages=_huge(each),
        )
        for pod in host.pods
        for each in pod.containers
    }


def _huge(container: PlacedContainer) -> dict[int, int]:
    """Return the container's huge pages by NUMA node, in octets."""
    return {block.node: block.bytes for block in container.memory if block.page_kib}


def test_plan_of_the_emulated_server_uses_both_numa_nodes(answered: Answered) -> None:
    assert planned(answered.plan) == {
        ("gateway", "forwarder"): Granted((2, 3), (0,), GIB, {0: GIB}),
        ("gateway", "cipher"): Granted((4, 5), (0,), GIB, {}),
        ("router", "forwarder"): Granted((8, 9), (1,), GIB, {1: GIB}),
        ("collector", "collector"): Granted((10, 11), (0,), 0, {}),
    }


def test_containers_have_the_planned_cpus_memory_and_huge_pages(answered: Answered) -> None:
    wanted = planned(answered.plan)
    assert reached(answered.node.granted, wanted) == wanted, answered.node.log()


def test_refused_pods_have_the_planned_reason(answered: Answered) -> None:
    assert answered.refusals == {
        lost.guest: lost.shortages[0].resource for lost in answered.plan.unplaced
    }
    assert answered.refusals == {"wide": "TopologyAffinityError", "odd": "SMTAlignmentError"}


@pytest.mark.parametrize(
    "command",
    [("systemctl", "restart", "kubelet"), ("systemctl", "kill", "--signal=KILL", "kubelet")],
    ids=["restart", "kill"],
)
def test_restarted_kubelet_leaves_containers_as_planned(
    answered: Answered, command: tuple[str, ...]
) -> None:
    node = answered.node
    before = node.containers()
    clock = Clock()
    node.restart(*command)
    # Equal ids: the containers were not started anew.
    assert reached(node.containers, before) == before, node.log()
    clock.say(f"{command[1]}: all containers are known again")
    wanted = planned(answered.plan)
    assert reached(node.granted, wanted) == wanted, node.log()
