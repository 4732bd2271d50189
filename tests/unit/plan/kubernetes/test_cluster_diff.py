# SPDX-License-Identifier: Apache-2.0
"""Compare a plan with a cluster that has its files, and with ones that differ in one value."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import yaml

from tests.unit.plan.kubernetes.pod_examples import shipped
from wirespeed.model.plan.kubelet import TopologyPolicy
from wirespeed.model.plan.plan import Decision
from wirespeed.plan.cloud.cluster_file import read_cluster
from wirespeed.plan.cloud.kubernetes import diff_cluster
from wirespeed.plan.diff import Effort, diff_plans
from wirespeed.plan.errors import PlanError
from wirespeed.plan.render.targets import render

PLAN = shipped("s1-bng-pods")
Cluster = dict[str, dict[str, Any]]


def _cluster() -> Cluster:
    """Return the cluster after `kubectl apply` of the files, with its node."""
    items = [
        yaml.safe_load(text)
        for path, text in render(PLAN, ["openshift"]).items()
        if path.endswith(".yaml")
    ]
    allocatable = {"cpu": "36", "hugepages-1Gi": "8Gi", "openshift.io/NFV_network": "8"}
    node = {
        "kind": "Node",
        "metadata": {"name": "s1-dppd", "labels": {"node-role.kubernetes.io/nfv": ""}},
        "status": {"allocatable": allocatable},
    }
    return read_cluster(json.dumps({"items": [*items, node]}), "c.json")


def test_cluster_with_the_rendered_files_is_as_planned() -> None:
    assert diff_cluster(_cluster(), PLAN, "c.json") == ()


def _node(cluster: Cluster) -> Any:
    return cluster["Node"]["s1-dppd"]


def _policy(cluster: Cluster) -> Any:
    return next(iter(cluster["SriovNetworkNodePolicy"].values()))["spec"]


def _resources(cluster: Cluster) -> Any:
    pod = cluster["Deployment"]["bng"]["spec"]["template"]["spec"]
    return pod["containers"][0]["resources"]


def _claims(cluster: Cluster) -> None:
    cluster["Deployment"]["bng"]["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "x"}]


@pytest.mark.parametrize(
    ("change", "what", "old"),
    [
        (lambda c: c["Node"].pop("s1-dppd"), "node", None),
        (lambda c: _node(c)["metadata"]["labels"].clear(), "label", None),
        (lambda c: _node(c)["status"]["allocatable"].update(cpu="40"), "allocatable cpu", "40.0"),
        (
            lambda c: _node(c)["status"]["allocatable"].update({"hugepages-1Gi": "4Gi"}),
            "hugepages-1Gi pages",
            "4",
        ),
        (
            lambda c: _node(c)["status"]["allocatable"].pop("openshift.io/NFV_network"),
            "openshift.io/NFV_network",
            "0",
        ),
        (
            lambda c: c["PerformanceProfile"]["nfv"]["spec"]["cpu"].update(reserved="0-4"),
            "cpu.reserved",
            "0-4",
        ),
        (lambda c: c["PerformanceProfile"]["nfv"]["spec"].pop("numa"), "numa.topologyPolicy",
         "best-effort"),
        (lambda c: _policy(c).update(numVfs=4), "numVfs", "4"),
        (lambda c: _policy(c).update(excludeTopology=True), "excludeTopology", "true"),
        (lambda c: c["Deployment"]["bng"]["spec"].update(replicas=3), "replicas", "3"),
        (lambda c: _resources(c)["limits"].update(cpu="16"), "dppd: requests", "differ"),
        (_claims, "devices", "claims and a device plugin"),
        (lambda c: c["Deployment"].clear(), "object", None),
    ],
)  # fmt: skip
def test_cluster_that_differs_in_one_value_is_reported(
    change: Callable[[Cluster], object], what: str, old: str | None
) -> None:
    cluster = copy.deepcopy(_cluster())
    change(cluster)
    found = diff_cluster(cluster, PLAN, "c.json")
    assert found
    assert found[0].what == what
    assert old is None if found[0].old is None else (old or "") in found[0].old


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"items": [{}]}',
        '{"items": 3}',
        "not json",
        '{"items": [{"kind": 1}]}',
        '{"items": [3]}',
        '{"items": [{"kind": [], "metadata": {"name": []}}]}',
    ],
)
def test_cluster_file_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(PlanError) as error:
        read_cluster(text, "c.json")
    assert "c.json" in str(error.value)
    for word in ("indices", "NoneType", "attribute", "iterable"):
        assert word not in str(error.value)


@pytest.mark.parametrize(
    ("cpus", "requests", "found"),
    [
        ("3", {}, [("main: cpu", "3", "a multiple of 2")]),
        ("3000m", {"cpu": "3000m"}, [("main: cpu", "3", "a multiple of 2")]),
        ("4", {}, []),
        ("3500m", {}, []),
        # Burstable: its CPUs are shared.
        ("3", {"cpu": "2"}, []),
    ],
)
def test_deployment_of_others_with_an_odd_cpu_count_is_reported(
    cpus: str, requests: dict[str, str], found: list[tuple[str, str, str]]
) -> None:
    cluster = copy.deepcopy(_cluster())
    other = copy.deepcopy(cluster["Deployment"]["bng"])
    resources = {"limits": {"cpu": cpus, "memory": "1Gi"}, "requests": requests}
    other["spec"]["template"]["spec"]["containers"] = [{"name": "main", "resources": resources}]
    cluster["Deployment"]["other"] = other
    differences = diff_cluster(cluster, PLAN, "c.json")
    assert [(d.what, d.old, d.new) for d in differences] == found
    other["spec"]["template"]["spec"]["nodeSelector"] = {}
    assert diff_cluster(cluster, PLAN, "c.json") == ()


def test_cluster_whose_profile_gives_pmd_threads_other_cpus_is_reported() -> None:
    plan = shipped("s4-onp-pods")
    profile = yaml.safe_load(render(plan)["openshift/nfv/performance-profile.yaml"])
    profile["spec"]["cpu"]["ovsDpdk"] = "2,26"
    objects = read_cluster(json.dumps({"items": [profile]}), "c.json")
    found = [d for d in diff_cluster(objects, plan, "c.json") if d.what.startswith("cpu.")]
    assert [(d.what, d.old, d.new) for d in found] == [("cpu.ovsDpdk", "2,26", "1,25")]


def test_plans_that_differ_in_pmd_cores_name_the_pool_and_a_reboot() -> None:
    plan = shipped("s4-onp-pods")
    (pool,) = plan.pools
    found = diff_plans(plan, replace(plan, pools=(replace(pool, ovs_cpus=None),)))
    assert [(d.what, d.new, d.effort) for d in found] == [("ovs_cpus", None, Effort.REBOOT)]


def test_plans_of_pods_differ_in_policy_and_replicas() -> None:
    (pool,), (pod,) = PLAN.pools, PLAN.pods
    policy = Decision(TopologyPolicy.RESTRICTED, "another")
    new = replace(
        PLAN,
        pools=(replace(pool, topology_policy=policy),),
        pods=(replace(pod, replicas=2),),
    )
    found = {d.what: (d.old, d.new, d.effort) for d in diff_plans(PLAN, new)}
    assert found == {
        "topology_policy": ("single-numa-node", "restricted", Effort.REBUILD),
        "replicas": ("1", "2", Effort.LIVE),
    }
    assert diff_plans(PLAN, PLAN) == ()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda c: _node(c)["status"].pop("allocatable"),
         "Node s1-dppd lacks the key 'allocatable'"),
        (lambda c: c["Deployment"]["bng"]["spec"].update(template=None),
         "Deployment bng has a value of another type"),
        (lambda c: _policy(c).pop("nicSelector"), "lacks the key 'nicSelector'"),
        (lambda c: c["Deployment"].update(other={"spec": {}}),
         "Deployment other lacks the key 'template'"),
    ],
)  # fmt: skip
def test_cluster_object_without_a_key_is_named(
    change: Callable[[Cluster], object], problem: str
) -> None:
    cluster = copy.deepcopy(_cluster())
    change(cluster)
    with pytest.raises(PlanError) as error:
        diff_cluster(cluster, PLAN, "c.json")
    assert problem in str(error.value)


def test_cluster_policy_that_chooses_nics_by_another_key_is_not_the_plans() -> None:
    cluster = copy.deepcopy(_cluster())
    _policy(cluster)["nicSelector"] = {"rootDevices": None, "pfNames": ["ens1f0"]}
    assert [d.what for d in diff_cluster(cluster, PLAN, "c.json")] == ["object"]


def _dump(*deployments: tuple[str, int]) -> Cluster:
    """Return a cluster with a Deployment bng in each namespace, with its number of replicas."""
    items = [
        {**copy.deepcopy(_cluster()["Deployment"]["bng"]), "kind": "Deployment",
         "metadata": {"name": "bng", "namespace": namespace}}
        for namespace, _ in deployments
    ]  # fmt: skip
    for item, (_, replicas) in zip(items, deployments, strict=True):
        item["spec"]["replicas"] = replicas
    return {**_cluster(), **read_cluster(json.dumps({"items": items}), "c.json")}


@pytest.mark.parametrize(
    ("deployments", "replicas"),
    [
        # Of the plan's namespace, whichever comes last.
        ([("default", 1), ("other", 7)], []),
        ([("other", 7), ("default", 2)], ["2"]),
        # It was moved.
        ([("nfv", 3)], ["3"]),
    ],
)
def test_cluster_deployments_of_one_name_differ_by_namespace(
    deployments: list[tuple[str, int]], replicas: list[str]
) -> None:
    found = diff_cluster(_dump(*deployments), PLAN, "c.json")
    assert [d.old for d in found if d.what == "replicas"] == replicas
    assert not [d for d in found if d.what == "object"]


def test_cluster_file_with_a_refusal_of_the_api_server_has_its_reason() -> None:
    status = {"kind": "Status", "status": "Failure", "message": "nodes is forbidden\x1b[2J"}
    with pytest.raises(PlanError) as error:
        read_cluster(json.dumps(status), "c.json")
    assert "the API server's refusal: nodes is forbidden\\x1b[2J" in str(error.value)


def test_cluster_of_one_object_is_read() -> None:
    found = read_cluster(json.dumps(_node(_cluster())), "c.json")
    assert list(found) == ["Node"]


def test_cluster_object_that_is_damaged_is_refused() -> None:
    cluster = _cluster()
    _node(cluster)["status"]["allocatable"]["cpu"] = "\x1b[31mmany"
    with pytest.raises(PlanError) as error:
        diff_cluster(cluster, PLAN, "c.json")
    assert "is no quantity" in str(error.value)
    assert "\x1b" not in str(error.value)
