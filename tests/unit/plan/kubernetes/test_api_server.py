# SPDX-License-Identifier: Apache-2.0
"""Apply rendered files to a real API server (make test-kubernetes)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.plan.kubernetes.api_server import ApiServer, running
from tests.unit.plan.kubernetes.pod_examples import POD_EXAMPLES, shipped
from wirespeed.plan.render.targets import render

PROGRAM = os.environ.get("WIRESPEED_KUBE_APISERVER", "")
CRDS = Path(__file__).parent / "crds"

pytestmark = pytest.mark.skipif(not PROGRAM, reason="needs a program in Go: make test-kubernetes")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """Provide a server with the CRDs of the operators and with their namespaces."""
    with running(PROGRAM, tmp_path_factory.mktemp("server")) as made:
        for path in CRDS.glob("*.yaml"):
            definition = yaml.safe_load(path.read_text(encoding="utf-8"))
            # The operator that converts older versions does not run here.
            definition["spec"].pop("conversion", None)
            answer = made.apply(yaml.safe_dump(definition))
            assert answer.accepted, answer.message
            made.wait_established(definition["metadata"]["name"])
        for name in ("default", "sriov-network-operator", "openshift-sriov-network-operator"):
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            assert made.apply(yaml.safe_dump(namespace)).accepted
        yield made


def _objects(example: str) -> dict[str, str]:
    """Return the rendered objects by path; a kubelet's configuration is none of the API."""
    files = render(shipped(example))
    return {
        p: t for p, t in files.items() if p.endswith(".yaml") and not p.endswith("kubelet.yaml")
    }


@pytest.mark.parametrize("example", POD_EXAMPLES)
def test_rendered_objects_are_accepted(server: ApiServer, example: str) -> None:
    for path, text in _objects(example).items():
        answer = server.apply(text)
        assert answer.accepted, f"{path}: {answer.message}"


@pytest.mark.parametrize("example", POD_EXAMPLES)
def test_objects_applied_again_are_unchanged(server: ApiServer, example: str) -> None:
    """A value that the server writes otherwise would be another at each apply."""
    for path, text in _objects(example).items():
        first, second = server.apply(text), server.apply(text)
        versions = [a.body["metadata"]["resourceVersion"] for a in (first, second)]
        assert versions[0] == versions[1], path


@pytest.mark.parametrize("example", POD_EXAMPLES)
def test_pods_of_deployments_are_guaranteed(server: ApiServer, example: str) -> None:
    """The server itself decides the class, by which the kubelet gives exclusive CPUs."""
    for path, text in _objects(example).items():
        document = yaml.safe_load(text)
        if document["kind"] != "Deployment":
            continue
        answer = server.create(_pod(server, document))
        assert answer.accepted, f"{path}: {answer.message}"
        assert answer.body["status"]["qosClass"] == "Guaranteed", path


def _pod(server: ApiServer, deployment: dict[str, Any]) -> dict[str, Any]:
    """Return a pod as the Deployment's controller would create it."""
    template = deployment["spec"]["template"]
    runtime = template["spec"].get("runtimeClassName")
    if runtime is not None:
        # On a cluster the Node Tuning Operator makes it of the profile.
        made = {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "handler": "high-performance",
        }
        assert server.apply(yaml.safe_dump(made | {"metadata": {"name": runtime}})).accepted
    place = {k: deployment["metadata"][k] for k in ("namespace",)}
    metadata = template["metadata"] | place | {"generateName": deployment["metadata"]["name"] + "-"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


BNG = "openshift/pods/bng.yaml"
CLAIM = "dra/bng-claim.yaml"
PROFILE = "openshift/nfv/performance-profile.yaml"
POLICY = "kubernetes/nfv/sriov/nfv-nfv-network-0000-08-00-0.yaml"


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        (BNG, '"cpu": "14"', '"cpu": "15"', "must be less than or equal to cpu limit"),
        (BNG, '"cpu": "14"', '"cpu": "14x"', "quantities must match"),
        (BNG, '"hugepages-1Gi": "4096Mi"', '"hugepages-1Gi": "2048Mi"', "must be equal to"),
        (BNG, "app.kubernetes.io/name", "app.kubernetes.io/other", "does not match template"),
        (BNG, 'name: "control"', 'name: "dppd"', "Duplicate value"),
        (BNG, 'mountPath: "/dev/hugepages"', "mountPath: 3", "mountPath"),
        (BNG, "nodeSelector:", "nodeSelectors:", "nodeSelectors"),
        (BNG, 'add: ["IPC_LOCK"]', 'added: ["IPC_LOCK"]', "added"),
        (CLAIM, " == ", " = ", "compilation failed"),
        (CLAIM, 'matchAttribute: "dra.net/numaNode"', 'matchAttribute: "node"', "matchAttribute"),
        (CLAIM, "exactly:", "exact:", "exact"),
        (PROFILE, "isolated:", "isolatd:", "isolatd"),
        (PROFILE, "count: 4", 'count: "4"', "count"),
        (POLICY, '"vfio-pci"', '"vfio"', "Unsupported value"),
        (POLICY, "numVfs: 8", "numVfs: -1", "numVfs"),
        ("openshift/networks/nfv-network.yaml", 'spoofChk: "off"', 'spoofChk: "maybe"', "spoofChk"),
        ("kubernetes/networks/nfv-network.yaml", "config:", "konfig:", "konfig"),
        ("openshift/nfv/machine-config-pool.yaml", "operator: In", "op: In", "operator"),
    ],
)  # fmt: skip
def test_rendered_object_with_a_planted_error_is_refused(
    server: ApiServer, path: str, old: str, new: str, expected: str
) -> None:
    text = _objects("s1-bng-pods")[path]
    assert old in text
    answer = server.apply(text.replace(old, new, 1))
    assert 400 <= answer.status < 500, f"accepted with {new!r}"
    assert expected in answer.message
