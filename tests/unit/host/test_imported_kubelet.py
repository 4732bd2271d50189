# SPDX-License-Identifier: Apache-2.0
"""Read a kubelet's settings from a must-gather, and from single objects of OpenShift."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from tests.hosts import record, sosreport
from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.host import kubelet_file
from wirespeed.host.collect import collect
from wirespeed.host.imported.machine_configs import MachineConfigs, NoSettings
from wirespeed.host.imported.source import facts_of, open_imported
from wirespeed.model.errors import BadInput
from wirespeed.model.host.finding import Finding
from wirespeed.model.plan.kubelet import CpuOption, TopologyPolicy
from wirespeed.remote.archive import Member
from wirespeed.remote.recorded import RecordedRunner
from wirespeed.remote.recording import load

RECORDING = load(Path(record.__file__).parent / "s2-r730")
WHOLE = collect(RecordedRunner(RECORDING))
SETTINGS = {
    "kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "cpuManagerPolicy": "static", "cpuManagerPolicyOptions": {"full-pcpus-only": "true"},
    "memoryManagerPolicy": "Static", "reservedSystemCPUs": "0",
    "reservedMemory": [{"numaNode": 0, "limits": {"memory": "1100Mi"}}],
    "topologyManagerPolicy": "single-numa-node",
}  # fmt: skip
TEXT = json.dumps(SETTINGS)
PLAIN = "data:text/plain;charset=utf-8;base64," + base64.b64encode(TEXT.encode()).decode()
BOMB = "data:;base64," + base64.b64encode(gzip.compress(bytes(2 << 20))).decode()


def objects(source: str, compression: str) -> MachineConfigs:
    """Return the objects of a cluster, as they are found in an archive."""
    found = MachineConfigs()
    for path, text in sosreport.machine_config("w1", source, compression).items():
        content = str(text).encode()
        parts = ("must-gather.local.1", *path.split("/")[1:])
        assert found.take(Member(parts, len(content), lambda content=content: content))
    return found


def gathered(folder: Path) -> Path:
    pack = sosreport.must_gather(folder, RECORDING, WHOLE, ["w1"])
    pack |= sosreport.machine_config("w1", PLAIN)
    return sosreport.write(folder / "mg.tar.gz", pack, top="must-gather.local.1")


def finding(path: Path, rule: str) -> Finding:
    opened = open_imported(path)
    report = audit(Subject(facts_of(opened), kubelet=opened.kubelet), all_rules())
    [found] = (each for each in report.findings if each.rule == rule)
    return found


@pytest.mark.parametrize(
    ("source", "compression"),
    [(PLAIN, ""), ("data:," + quote(TEXT), ""), ("data:," + quote(yaml.safe_dump(SETTINGS)), ""),
     ("data:;base64," + base64.b64encode(gzip.compress(TEXT.encode())).decode(), "gzip")],
)  # fmt: skip
def test_must_gather_has_the_kubelet_of_its_node(source: str, compression: str) -> None:
    found = objects(source, compression).kubelet_of("w1")
    assert found == kubelet_file.parse(SETTINGS)
    assert (found.reserved_cpus, found.static_cpus, found.static_memory) == ((0,), True, True)
    assert found.cpu_options == {CpuOption.FULL_PCPUS_ONLY}
    assert found.topology is TopologyPolicy.SINGLE_NUMA_NODE
    assert [each.bytes >> 20 for each in found.reserved_memory] == [1100]


def test_must_gather_without_machine_configs_says_so(tmp_path: Path) -> None:
    pack = sosreport.must_gather(tmp_path, RECORDING, WHOLE, ["w1"])
    path = sosreport.write(tmp_path / "mg.tar.gz", pack, top="must-gather.local.1")
    assert finding(path, "WS54").found == (
        "needs the configuration of the kubelet (--kubelet): cluster-scoped-resources/core/nodes/"
        "w1.yaml is not in the must-gather, or too large"
    )


@pytest.mark.parametrize(
    ("source", "compression", "problem"),
    [
        ("https://example.com/kubelet.conf", "", "its source is no data URL"),
        ("data:;base64,====", "", "kubelet.conf: "),
        ("data:,%7B%7B%7B%7B", "gzip", "kubelet.conf: Error -3"),
        ("data:,%1F", "gzip", "kubelet.conf: gzip data end too early"),
        (BOMB, "gzip", "kubelet.conf: more than 1 MiB"),
        ("data:," + quote('{"kind": "KubeletConfiguration", "topologyManagerPolicy": "x"}'), "",
         "topologyManagerPolicy: 'x' is not known"),
        ("data:," + quote("a: &a [1]\nb: *a\n"), "", "an alias in it"),
        ("data:," + "[" * 2000, "", "nested deeper than 64 levels"),
        ("data:,%FF", "", "is not UTF-8"),
    ],
)  # fmt: skip
def test_must_gather_with_a_bad_kubelet_file_has_its_reason(
    source: str, compression: str, problem: str
) -> None:
    with pytest.raises(NoSettings) as raised:
        objects(source, compression).kubelet_of("w1")
    assert problem in str(raised.value)
    assert str(raised.value).startswith("MachineConfig rendered-worker-0a1b: ")


@pytest.mark.parametrize(
    "document",
    [SETTINGS, {"kubeletconfig": SETTINGS},
     {"kind": "KubeletConfig", "spec": {"kubeletConfig": SETTINGS}},
     {"kind": "List", "items": [{"kind": "KubeletConfig", "spec": {"kubeletConfig": SETTINGS}}]}],
)  # fmt: skip
def test_kubelet_file_may_be_yaml_and_an_object_of_openshift(
    tmp_path: Path, document: dict[str, object]
) -> None:
    path = tmp_path / "kubelet.yaml"
    path.write_text(yaml.safe_dump(document))
    assert kubelet_file.load(path) == kubelet_file.parse(SETTINGS)


def test_kubelet_file_of_several_objects_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kubelet.yaml"
    path.write_text(yaml.safe_dump({"kind": "List", "items": [{"kind": "KubeletConfig"}, {}]}))
    with pytest.raises(BadInput, match="has no 'cpuManagerPolicy'"):
        kubelet_file.load(path)


@pytest.mark.parametrize(
    "node", ["metadata: []", "metadata:\n  annotations: x", "metadata: {annotations: {a: b}}"]
)
def test_node_without_the_annotation_is_named(node: str) -> None:
    found, content = MachineConfigs(), node.encode()
    parts = ("a", "cluster-scoped-resources", "core", "nodes", "w1.yaml")
    found.take(Member(parts, len(content), lambda: content))
    with pytest.raises(NoSettings, match="Node w1 has no annotation"):
        found.kubelet_of("w1")
