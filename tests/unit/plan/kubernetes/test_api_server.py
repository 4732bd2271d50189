# SPDX-License-Identifier: Apache-2.0
"""Apply rendered files to a real kube-apiserver with etcd (make test-kubernetes)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.api_server import ApiServer, Refused, api_server
from tests.unit.plan.kubernetes.pod_examples import (
    PLANTED_IN_OBJECTS,
    POD_EXAMPLES,
    rendered_objects,
)

PROGRAM = os.environ.get("WIRESPEED_API_SERVER", "")
CRDS = Path(__file__).parent / "crds"
SPACES = ("sriov-network-operator", "openshift-sriov-network-operator")

pytestmark = pytest.mark.skipif(not PROGRAM, reason="needs programs in Go: make test-kubernetes")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with api_server(PROGRAM, tmp_path_factory.mktemp("server")) as made:
        for crd in sorted(CRDS.glob("*.yaml")):
            made.define(crd.read_text(encoding="utf-8"))
        for name in SPACES:
            space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            made.apply(yaml.safe_dump(space))
        yield made


@pytest.mark.parametrize("example", POD_EXAMPLES)
def test_rendered_objects_are_taken_by_server_side_apply(server: ApiServer, example: str) -> None:
    objects = rendered_objects(example)
    assert {path.split("/")[0] for path in objects} == {"kubernetes", "openshift", "dra"}
    for path, text in objects.items():
        wanted, kept = yaml.safe_load(text), server.apply(text)
        assert kept["metadata"]["name"] == wanted["metadata"]["name"], path
        assert kept["metadata"]["uid"], path
        # What the server keeps has every value that was rendered; it adds defaults.
        assert_within(wanted["spec"], kept["spec"], path)
        # Nothing changes when the same is applied again.
        again = server.apply(text)
        assert again["metadata"]["resourceVersion"] == kept["metadata"]["resourceVersion"], path


def assert_within(wanted: object, kept: object, where: str) -> None:
    """Check that each value of wanted is in kept; quantities may be written otherwise there."""
    if isinstance(wanted, dict):
        assert isinstance(kept, dict), where
        for key, value in wanted.items():
            assert key in kept, f"{where}: {key} was dropped"
            assert_within(value, kept[key], f"{where}.{key}")
    elif isinstance(wanted, list):
        assert isinstance(kept, list), where
        assert len(wanted) == len(kept), where
        for one, other in zip(wanted, kept, strict=True):
            assert_within(one, other, where)
    else:
        assert in_octets(str(wanted)) == in_octets(str(kept)), where


def in_octets(value: str) -> str:
    """Return a quantity of memory as a number of octets, other text as it is."""
    found = re.fullmatch(r"([0-9]+)([MG])i", value)
    return str(int(found[1]) << {"M": 20, "G": 30}[found[2]]) if found else value


@pytest.mark.parametrize(("name", "old", "new"), PLANTED_IN_OBJECTS)
def test_rendered_object_with_a_planted_error_is_refused(
    server: ApiServer, name: str, old: str, new: str
) -> None:
    objects = rendered_objects("s1-bng-pods")
    text = next(t for p, t in objects.items() if p.endswith(f"/{name}") and old in t)
    with pytest.raises(Refused):
        server.apply(text.replace(old, new, 1))
