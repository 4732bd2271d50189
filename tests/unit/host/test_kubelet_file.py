# SPDX-License-Identifier: Apache-2.0
"""Read a kubelet's configuration, and refuse files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from wirespeed.host.kubelet_file import load, parse
from wirespeed.model.errors import BadInput
from wirespeed.model.plan.kubelet import CpuOption, NodeMemory, TopologyPolicy, TopologyScope

RENDERED = Path(__file__).parents[3] / "examples/s1-bng-pods/rendered/kubernetes/nfv/kubelet.yaml"


def _rendered() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(RENDERED.read_text(encoding="utf-8"))
    return found


def test_kubelet_file_of_our_own_configuration_has_its_values(tmp_path: Path) -> None:
    path = tmp_path / "configz.json"
    path.write_text(json.dumps({"kubeletconfig": _rendered()}), encoding="utf-8")
    found = load(path)
    assert found.reserved_cpus == (0, 10, 20, 30)
    assert found.static_cpus
    assert found.static_memory
    assert found.cpu_options == {CpuOption.FULL_PCPUS_ONLY, CpuOption.STRICT_CPU_RESERVATION}
    assert found.reserved_memory == (NodeMemory(0, 2 << 30), NodeMemory(1, 2 << 30))
    assert (found.topology, found.scope) == (TopologyPolicy.SINGLE_NUMA_NODE, TopologyScope.POD)


def test_kubelet_file_without_settings_has_the_kubelets_defaults() -> None:
    found = parse({"kind": "KubeletConfiguration"})
    assert (found.static_cpus, found.static_memory) == (False, False)
    assert (found.topology, found.scope) == (TopologyPolicy.NONE, TopologyScope.CONTAINER)


@pytest.mark.parametrize("empty", ["", None])
def test_kubelet_file_with_empty_policies_has_the_kubelets_defaults(empty: str | None) -> None:
    names = ("cpuManagerPolicy", "memoryManagerPolicy", "topologyManagerPolicy",
             "topologyManagerScope")  # fmt: skip
    found = parse({"kind": "KubeletConfiguration", **dict.fromkeys(names, empty)})
    assert found == parse({"kind": "KubeletConfiguration"})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"topologyManagerPolicy": "strict"}, "topologyManagerPolicy: 'strict' is not known"),
        ({"cpuManagerPolicyOptions": {"no-such-option": "true"}},
         "cpuManagerPolicyOptions: 'no-such-option' is not known; known are: full-pcpus-only, "),
        ({"cpuManagerPolicyOptions": ["full-pcpus-only"]}, "another type"),
        ({"cpuManagerPolicy": "Static"},
         "cpuManagerPolicy: 'Static' is not known; known are: none, static"),
        ({"memoryManagerPolicy": "static"}, "memoryManagerPolicy: 'static' is not known"),
        ({"topologyManagerPolicyOptions": {"max-allowable-numa-nodes": float("inf")}},
         "max-allowable-numa-nodes: inf is not a number"),
        ({"topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "9" * 5000}},
         "max-allowable-numa-nodes: '999"),
        ({"reservedMemory": [{"numaNode": -1, "limits": {"memory": "1Gi"}}]},
         "numaNode: -1 is not a number"),
        ({"reservedSystemCPUs": "0-"}, "0-"),
        ({"reservedMemory": [{"numaNode": 0, "limits": {"memory": "much"}}]}, "much"),
    ],
)  # fmt: skip
def test_kubelet_file_with_a_wrong_value_is_refused(
    tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    path = tmp_path / "configz.json"
    path.write_text(json.dumps({"kubeletconfig": _rendered() | change}), encoding="utf-8")
    with pytest.raises(BadInput) as error:
        load(path)
    assert problem in str(error.value)
    assert "configz" in str(error.value)


def test_kubelet_file_with_a_control_character_is_one_line_about_it(tmp_path: Path) -> None:
    path = tmp_path / "kubelet.yaml"
    path.write_text("kind: KubeletConfiguration\ncpuManagerPolicy: \x1b[31m\n", encoding="utf-8")
    with pytest.raises(BadInput, match="#x001b: control characters are not allowed\n"):
        load(path)


def test_kubelet_file_in_yaml_with_nulls_has_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "kubelet.yaml"
    keys = ("cpuManagerPolicy", "topologyManagerPolicy", "topologyManagerPolicyOptions")
    lines = ["kind: KubeletConfiguration", *(f"{key}: null" for key in keys), "reservedMemory:", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert load(path) == parse({"kind": "KubeletConfiguration"})


def test_kubelet_on_more_than_8_numa_nodes_may_allow_them() -> None:
    options = {"max-allowable-numa-nodes": "16"}
    found = parse({"kind": "KubeletConfiguration", "topologyManagerPolicyOptions": options})
    assert found.most_numa_nodes == 16


@pytest.mark.parametrize("text", ["[]", "{}", "3", "no json", '{"kubeletconfig": []}'])
def test_kubelet_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "k.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput):
        load(path)
