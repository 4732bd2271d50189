# SPDX-License-Identifier: Apache-2.0
"""Check that the shipped plans and files of pods follow from their inputs and agree."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.support.examples import ROOT, example_host
from tests.unit.plan.kubernetes.pod_examples import POD_EXAMPLES, planned, shipped, workload_text
from wirespeed.model.cpuset import parse_list
from wirespeed.plan.plan_file import write_plan
from wirespeed.plan.render.targets import render

every_example = pytest.mark.parametrize("example", POD_EXAMPLES)


def _documents(example: str) -> dict[str, dict[str, Any]]:
    files = render(shipped(example))
    return {path: yaml.safe_load(text) for path, text in files.items() if path.endswith(".yaml")}


@every_example
def test_pods_shipped_plan_is_the_plan(example: str) -> None:
    """Regenerate with examples/regenerate.sh after an intended change."""
    text = (ROOT / "examples" / example / "plan.json").read_text(encoding="utf-8")
    assert write_plan(planned(workload_text(example), example_host(POD_EXAMPLES[example]))) == text


@every_example
def test_pods_shipped_files_are_rendered_from_the_plan(example: str) -> None:
    folder = ROOT / "examples" / example / "rendered"
    files = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert render(shipped(example)) == files


@every_example
def test_pods_of_the_examples_fit_on_one_numa_node(example: str) -> None:
    plan = shipped(example)
    assert not plan.unplaced
    for host in plan.hosts:
        for pod in host.pods:
            exclusive = [c for c in pod.containers if c.cpus]
            assert all(len(container.nodes) == 1 for container in exclusive)


@every_example
def test_kubelet_reserved_memory_equals_the_reservation(example: str) -> None:
    """The kubelet does not start if the sums differ (memory_manager.go, validateReservedMemory)."""
    for path, document in _documents(example).items():
        if document["kind"] == "KubeletConfiguration" and document["cpuManagerPolicy"] == "none":
            continue  # of the target dra: no manager compares the sums
        if document["kind"] == "KubeletConfiguration":
            found = document
        elif document["kind"] == "PerformanceProfile":
            found = json.loads(document["metadata"]["annotations"]["kubeletconfig.experimental"])
        else:
            continue
        reserved = sum(_mib(r["limits"]["memory"]) for r in found["reservedMemory"])
        kept = _mib(found["kubeReserved"]["memory"])
        kept += _mib(found["evictionHard"]["memory.available"])
        assert reserved == kept + _mib(found.get("systemReserved", {}).get("memory", "0")), path


def _mib(text: str) -> int:
    return int(text.removesuffix("Mi"))


@every_example
def test_profile_and_kubelet_name_the_same_cpus(example: str) -> None:
    documents = list(_documents(example).values())
    kubelet, by_claims = (
        _documents(example)[path]
        for path in ("kubernetes/nfv/kubelet.yaml", "dra/nfv/kubelet.yaml")
    )
    assert kubelet["reservedSystemCPUs"] == by_claims["reservedSystemCPUs"]
    (profile,) = (d for d in documents if d["kind"] == "PerformanceProfile")
    cpu = profile["spec"]["cpu"]
    # The operator adds the CPUs of PMD threads to the kubelet's key.
    reserved = {*parse_list(cpu["reserved"]), *parse_list(cpu.get("ovsDpdk", ""))}
    assert reserved == set(parse_list(kubelet["reservedSystemCPUs"]))
    isolated = set(parse_list(cpu["isolated"]))
    assert not reserved & isolated
    assert reserved | isolated == set(example_host(POD_EXAMPLES[example]).online_cpus)


@every_example
def test_pods_are_guaranteed_and_unprivileged(example: str) -> None:
    deployments = [d for d in _documents(example).values() if d["kind"] == "Deployment"]
    assert deployments
    for deployment in deployments:
        for container in deployment["spec"]["template"]["spec"]["containers"]:
            assert container["resources"]["requests"] == container["resources"]["limits"]
            assert not container["securityContext"]["privileged"]


@every_example
def test_resources_of_pods_are_those_of_policies_and_networks(example: str) -> None:
    documents = list(_documents(example).values())
    offered = {
        f"openshift.io/{d['spec']['resourceName']}"
        for d in documents
        if d["kind"] == "SriovNetworkNodePolicy"
    }
    wanted = {
        resource
        for d in documents
        if d["kind"] == "Deployment"
        for c in d["spec"]["template"]["spec"]["containers"]
        for resource in c["resources"]["requests"]
        if "/" in resource
    }
    assert wanted == offered


@every_example
def test_claims_align_cpus_and_vfs_by_one_attribute(example: str) -> None:
    claims = [d for d in _documents(example).values() if d["kind"] == "ResourceClaimTemplate"]
    assert claims
    for claim in claims:
        devices = claim["spec"]["spec"]["devices"]
        assert devices["constraints"] == [{"matchAttribute": "dra.net/numaNode"}]


def test_claim_of_a_pod_that_shares_its_cpus_names_vfs_alone() -> None:
    """S2's netperf has 3.5 CPUs: the kubelet's shared pool runs it."""
    claim = _documents("s2-chains-pods")["dra/netperf-claim.yaml"]["spec"]["spec"]["devices"]
    assert [request["name"] for request in claim["requests"]] == ["vf-data"]


@pytest.mark.parametrize(("cpus", "claimed"), [("14", ["cpus"]), ("1.5", None)])
def test_pod_without_vfs_has_its_files_for_dra(cpus: str, claimed: list[str] | None) -> None:
    text, _, _ = workload_text("s1-bng-pods").partition("[[vnf.port]]")
    text = text.replace("cpus = 14", f"cpus = {cpus}")
    if claimed is None:
        text = text.replace('kind = "pod"', 'kind = "pod"\ndata_plane = "kernel"')
    files = render(planned(text), ["dra"])
    pod = yaml.safe_load(files["dra/bng.yaml"])["spec"]["template"]["spec"]
    if claimed is None:
        assert "resourceClaims" not in pod
        assert "dra/bng-claim.yaml" not in files
        return
    (claim,) = pod["resourceClaims"]
    template = yaml.safe_load(files["dra/bng-claim.yaml"])
    assert claim["resourceClaimTemplateName"] == template["metadata"]["name"] == "bng-cpus"
    devices = template["spec"]["spec"]["devices"]
    assert [request["name"] for request in devices["requests"]] == claimed
    assert "config" not in devices
