# SPDX-License-Identifier: Apache-2.0
"""Names of the workload become those of Kubernetes: no two become one, and each is allowed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import yaml

from tests.support.examples import example_host
from tests.unit.plan.kubernetes.pod_examples import planned, shipped, twin, workload_text
from wirespeed.plan.errors import PlanError
from wirespeed.plan.pods.node import resource_names
from wirespeed.plan.render.escape import RenderError
from wirespeed.plan.render.targets import render

GOOD = workload_text("s1-bng-pods")
LONGEST = "a" * 63
POOL, PORT, VNF = '[[pool]]\nname = "nfv"', '[[vnf.port]]\nname = "inet"', '[[vnf]]\nname = "bng"'


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        (POOL, '[[pool]]\nname = "a_b"\n[[pool]]\nname = "a-b"', "pool.name"),
        ('name = "control"', 'name = "DPPD"', "vnf[bng].container.name"),
        (PORT, '[[vnf.port]]\nname = "CPE"', "vnf[bng].port.name"),
        (
            '[[network]]\nname = "NFV-network"',
            '[[network]]\nname = "nfv_network"\nphysical_network = "x"\n'
            '[[network]]\nname = "NFV-network"',
            "network.name",
        ),
    ],
)  # fmt: skip
def test_names_that_are_one_in_kubernetes_are_refused_with_their_key(
    old: str, new: str, key: str
) -> None:
    assert old in GOOD
    with pytest.raises(PlanError) as error:
        planned(GOOD.replace(old, new, 1))
    assert f"{key} = [" in str(error.value)
    assert "in Kubernetes" in str(error.value)


def test_rendered_names_of_pools_and_containers_of_a_plan_file_differ() -> None:
    plan = shipped("s1-bng-pods")
    (pool,), (pod,) = plan.pools, plan.pods
    one, other = pod.containers
    containers = (replace(one, name="a.b"), replace(other, name="a_b"))
    for damaged in (
        replace(plan, pools=(pool, replace(pool, name="NFV"))),
        replace(plan, pods=(replace(pod, containers=containers),)),
    ):
        for target in ("kubernetes", "openshift", "dra"):
            with pytest.raises(RenderError) as error:
                render(damaged, [target])
            assert "in Kubernetes" in str(error.value)


def test_file_that_two_parts_of_a_plan_have_is_refused() -> None:
    """The claim of pod bng and the Deployment of pod bng-claim are dra/bng-claim.yaml."""
    plan = shipped("s1-bng-pods")
    (pod,) = plan.pods
    with pytest.raises(RenderError) as error:
        render(replace(plan, pods=(pod, replace(pod, name="bng-claim"))), ["dra"])
    assert "dra/bng-claim.yaml" in str(error.value)


@pytest.mark.parametrize("name", ["net.", "net-", "net__", LONGEST])
def test_resource_of_a_network_is_a_name_that_the_api_takes(name: str) -> None:
    for resource in resource_names([name, f"{name[:-1]}_", name.replace("-", ".")]).values():
        short = resource.partition("/")[2]
        assert re.fullmatch("[A-Za-z0-9]([A-Za-z0-9_]*[A-Za-z0-9])?", short)
        assert len(short) <= 63


def test_request_of_a_port_with_the_longest_name_is_a_label() -> None:
    text = GOOD
    for name in ("nfv", "bng", "dppd", "cpe"):
        text = text.replace(f'name = "{name}"', f'name = "{LONGEST}"', 1)
    claim = yaml.safe_load(render(planned(text))[f"dra/{LONGEST}-claim.yaml"])
    names = [each["name"] for each in claim["spec"]["spec"]["devices"]["requests"]]
    assert names == ["cpus", "vf1", "vf-inet"]


def test_node_of_a_host_with_capitals_has_the_kubelets_name() -> None:
    plan = planned(GOOD, twin(example_host("s1-bng"), "S1-DPPD"))
    for target in ("kubernetes", "openshift"):
        script = render(plan, [target])[f"{target}/nfv/label-nodes.sh"]
        assert "label node s1-dppd " in script
