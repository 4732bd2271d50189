# SPDX-License-Identifier: Apache-2.0
"""Test the round trip of host files, and that a bad file is rejected with all its errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.hosts.papers import MACHINES
from tests.hosts.server import runner
from wirespeed.host import flavor_file
from wirespeed.host.collect import collect
from wirespeed.host.file import HOST_FILE
from wirespeed.model.errors import BadInput

SCHEMA = Path(__file__).parents[3] / "schemas" / "hostfacts.schema.json"


def good() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(HOST_FILE.document(collect(runner(S1)))))
    return document


S1 = MACHINES["s1-dppd"]


@pytest.mark.parametrize("machine", MACHINES)
def test_round_trip_and_schema(machine: str) -> None:
    facts = collect(runner(MACHINES[machine]))
    text = json.dumps(HOST_FILE.document(facts))
    assert HOST_FILE.parse(text, "it") == facts
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(json.loads(text))


def _break(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *folders, last = path.split(".")
        place: Any = document
        for name in folders:
            place = place[int(name) if name.isdecimal() else name]
        place[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_break("schema_version", "2.0"), 'schema_version "2.0"; this wirespeed reads 1.x'),
        (lambda d: d.pop("schema_version"), "has no schema_version"),
        (_break("colour", "red"), 'colour = "red": unknown key'),
        (_break("kernel.flavour", "red"), 'kernel.flavour = "red": unknown key'),
        (_break("cpus.3.node", "zero"), 'cpus.3.node = "zero": must be a valid integer'),
        (_break("cpus.3.node", 7), "CPU 3 is on NUMA node 7, which does not exist"),
        (_break("cpus.3.siblings", [3, 99]), "CPU 3 has siblings 99"),
        (_break("cpus.3.siblings", [3, 4]), "CPU 3 and its siblings list different siblings"),
        (_break("cpus.3.id", 4), "cpus: 4 appear twice"),
        (_break("nodes.0.cpus", [77]), "node 0 lists CPUs 77"),
        (_break("nodes.0.distances", [10]), "node 0 has 1 distances"),
        (_break("cpus", []), "no CPU or no NUMA node"),
    ],
)
def test_bad_files_are_refused(change: Callable[[dict[str, Any]], None], told: str) -> None:
    document = good()
    change(document)
    with pytest.raises(BadInput, match=r"host\.json") as caught:
        HOST_FILE.parse(json.dumps(document), "host.json")
    assert told in caught.value.what


def test_all_faults_are_reported_at_once() -> None:
    document = good()
    _break("colour", "red")(document)
    _break("cpus.3.node", "zero")(document)
    with pytest.raises(BadInput, match="2 errors"):
        HOST_FILE.parse(json.dumps(document), "host.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_a_file_that_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"host\.json"):
        HOST_FILE.parse(text, "host.json")


def test_flavors_as_the_openstack_client_prints_them(tmp_path: Path) -> None:
    rows = [
        {"Name": "new", "VCPUs": 4, "RAM": 8192, "Properties": {"hw:numa_nodes": "1"}},
        {"Name": "old", "VCPUs": 2, "RAM": 1024, "Properties": "a='1', hw:cpu_policy='shared'"},
        {"Name": "bare", "VCPUs": 1, "RAM": 512, "Properties": None},
    ]
    path = tmp_path / "flavors.json"
    path.write_text(json.dumps(rows))
    new, old, bare = flavor_file.load(path)
    assert (new.extra_specs, new.memory_mib) == ({"hw:numa_nodes": "1"}, 8192)
    assert old.extra_specs == {"a": "1", "hw:cpu_policy": "shared"}
    assert bare.extra_specs == {}


def test_flavor_entries_that_are_none_are_all_named(tmp_path: Path) -> None:
    path = tmp_path / "flavors.json"
    path.write_text('[{"Name": "x"}, {"Name": "y", "VCPUs": 1, "RAM": 1, "Properties": 3}]')
    with pytest.raises(BadInput, match="2 errors") as caught:
        flavor_file.load(path)
    assert "entry 1: has no 'VCPUs'" in caught.value.what
    assert "entry 2: Properties is neither" in caught.value.what
