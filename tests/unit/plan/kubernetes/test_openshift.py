# SPDX-License-Identifier: Apache-2.0
"""Check what OpenShift's operators add to rendered files, and that the plan has counted on it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml

from tests.support.examples import example_host
from tests.unit.plan.kubernetes.pod_examples import planned, twin, workload_text
from wirespeed.model.cpuset import format_list, parse_list
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.errors import PlanError
from wirespeed.plan.render.targets import render

GOOD = workload_text("s1-bng-pods")
PMD_CORES = "[cores]\npmd_cores = { 0 = 1 }\n\n[[pool]]"


def _with(pool: str) -> str:
    return GOOD.replace('name = "nfv"', f'name = "nfv"\n{pool}', 1)


def _polling(pool: str = "") -> str:
    return _with(pool).replace("[[pool]]", PMD_CORES, 1)


def _document(plan: Plan, path: str) -> Any:
    return yaml.safe_load(render(plan)[path])


def _profile(plan: Plan) -> Any:
    return _document(plan, "openshift/nfv/performance-profile.yaml")


def _snippet(plan: Plan) -> Any:
    return json.loads(_profile(plan)["metadata"]["annotations"]["kubeletconfig.experimental"])


def test_profile_without_whole_cores_switches_off_what_the_operator_adds() -> None:
    """The operator sets full-pcpus-only under single-numa-node unless the snippet names it."""
    plan = planned(_with('cpu_options = ["strict-cpu-reservation"]'))
    options = _snippet(plan)["cpuManagerPolicyOptions"]
    assert options == {"strict-cpu-reservation": "true", "full-pcpus-only": "false"}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [("best-effort", "Static"), ("none", "Static"), ("restricted", None)],
)
def test_profile_memory_manager_is_static_under_every_policy(
    policy: str, expected: str | None
) -> None:
    """The operator sets it under restricted and single-numa-node only."""
    plan = planned(_with(f'topology_policy = "{policy}"'))
    assert _snippet(plan).get("memoryManagerPolicy") == expected


def test_profile_with_uncore_cache_has_the_operators_switch() -> None:
    plan = planned(_with('cpu_options = ["prefer-align-cpus-by-uncorecache"]'))
    notes = _profile(plan)["metadata"]["annotations"]
    assert notes["kubeletconfig.prefer-align-cpus-by-uncorecache"] == "true"


def test_machine_config_pool_selects_the_nodes_of_the_profile() -> None:
    plan = planned(GOOD)
    pool = _document(plan, "openshift/nfv/machine-config-pool.yaml")
    label = _profile(plan)["spec"]["nodeSelector"]
    assert pool["spec"]["nodeSelector"]["matchLabels"] == label
    (wanted,) = pool["spec"]["machineConfigSelector"]["matchExpressions"]
    # The operator's default: the last part of the node label is the role.
    (role,) = (key.partition("/")[2] for key in label)
    assert role in wanted["values"]
    assert pool["metadata"]["labels"][wanted["key"]] == role


def test_machine_config_pool_that_every_cluster_has_is_not_rendered() -> None:
    files = render(planned(GOOD.replace('name = "nfv"', 'name = "worker"', 1)))
    assert "openshift/worker/performance-profile.yaml" in files
    assert "openshift/worker/machine-config-pool.yaml" not in files


@pytest.mark.parametrize("target", ["kubernetes", "openshift"])
def test_nodes_get_the_label_that_files_select(target: str) -> None:
    text = render(planned(GOOD))[f"{target}/nfv/label-nodes.sh"]
    assert "label node s1-dppd node-role.kubernetes.io/nfv= --overwrite" in text


@pytest.mark.parametrize(
    ("target", "namespace"),
    [
        ("kubernetes", "sriov-network-operator"),
        ("openshift", "openshift-sriov-network-operator"),
    ],
)
def test_policies_are_in_the_namespace_that_the_operator_reads(target: str, namespace: str) -> None:
    files = render(planned(GOOD))
    policies = [
        yaml.safe_load(text)
        for path, text in files.items()
        if path.startswith(f"{target}/") and "/sriov/" in path
    ]
    assert policies
    assert {policy["metadata"]["namespace"] for policy in policies} == {namespace}


def test_pmd_cores_are_of_no_pod_and_of_one_key_of_the_profile() -> None:
    facts = example_host("s1-bng")
    plan = planned(_polling())
    cpu = _profile(plan)["spec"]["cpu"]
    parts = [set(parse_list(cpu[key])) for key in ("reserved", "ovsDpdk", "isolated")]
    assert parts[1] == {1, 21}
    assert sum(map(len, parts)) == len(set().union(*parts))
    assert set().union(*parts) == set(facts.online_cpus)
    given = {cpu for h in plan.hosts for p in h.pods for c in p.containers for cpu in c.cpus}
    assert given <= parts[2]
    # A plain node has one key for both; the kernel isolates PMD threads as pods.
    kubelet = _document(plan, "kubernetes/nfv/kubelet.yaml")
    assert set(parse_list(kubelet["reservedSystemCPUs"])) == parts[0] | parts[1]
    isolated = format_list(sorted(parts[1] | parts[2]))
    assert f"nohz_full={isolated}" in [word.value for word in plan.hosts[0].kernel]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            _polling('cpu_options = ["full-pcpus-only"]'),
            'pool[nfv].cpu_options = ["full-pcpus-only"]: with cores.pmd_cores, Burstable',
        ),
        (
            GOOD.replace("[[pool]]", PMD_CORES.replace("\n\n", '\npmd_siblings = "idle"\n\n'), 1),
            'write "pair", so that both threads belong to Open vSwitch',
        ),
        (
            GOOD.replace("[[pool]]", "[cores]\npmd_cores = { 7 = 1 }\n\n[[pool]]", 1),
            "cores.pmd_cores names NUMA node 7, which host s1-dppd does not have",
        ),
        (
            GOOD.replace("[[pool]]", "[cores]\npmd_cores = { 0 = 10 }\n\n[[pool]]", 1),
            "10 physical cores wanted for PMD threads, 9 of 10 are left",
        ),
    ],
)
def test_pmd_cores_that_no_node_keeps_free_are_refused(text: str, expected: str) -> None:
    with pytest.raises(PlanError) as error:
        planned(text)
    assert expected in str(error.value)


def test_vswitch_settings_without_effect_on_a_node_are_named() -> None:
    plan = planned(GOOD.replace("[[pool]]", "[vswitch]\nrx_queues = 4\n\n[[pool]]", 1))
    assert any(w.startswith("vswitch.rx_queues have no effect") for w in plan.warnings)


def _mellanox(facts: HostFacts) -> HostFacts:
    cards = tuple(
        replace(d, vendor="15b3", device="1018") if d.address.startswith("0000:08") else d
        for d in facts.pci
    )
    return replace(facts, pci=cards)


@pytest.mark.parametrize("target", ["kubernetes/pods", "openshift/pods", "dra"])
def test_polling_pod_on_mellanox_may_open_raw_queues(target: str) -> None:
    plan = planned(GOOD, _mellanox(twin(example_host("s1-bng"), "mlx")))
    dppd, control = _document(plan, f"{target}/bng.yaml")["spec"]["template"]["spec"]["containers"]
    assert dppd["securityContext"]["capabilities"]["add"] == ["IPC_LOCK", "NET_RAW"]
    assert "add" not in control["securityContext"]["capabilities"]
