# SPDX-License-Identifier: Apache-2.0
"""Test that a cloud is read as its API reports it, and that no secret is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.carried_out import Replies, replies
from tests.support.examples import lab_hosts, lab_plan
from wirespeed.cloud.api import CloudUnreadable
from wirespeed.cloud.collect import collect
from wirespeed.cloud.file import CLOUD_FILE
from wirespeed.cloud.recording import FILE, RecordedApi, RecordingApi
from wirespeed.model.cloud import Agent, CpuCounts, Inventory
from wirespeed.model.errors import BadInput

SCHEMA = Path(__file__).parents[3] / "schemas" / "cloud.schema.json"


def lab() -> Replies:
    return replies(lab_plan(), lab_hosts())


def test_hosts_have_what_nova_placement_and_neutron_say() -> None:
    cloud = collect(lab())
    host = cloud.host("compute-1")
    assert host
    assert host.hypervisor == "compute-1.lab"
    assert host.cpu_counts == CpuCounts(2, 1, 18, 2)
    plan = lab_plan().hosts[0]
    assert plan.cores
    pinned = sum(len(node.pins) for guest in plan.guests for node in guest.nodes)
    assert host.inventory["PCPU"] == Inventory(len(plan.cores.dedicated.value), 0, pinned)
    assert host.agents[0] == Agent(
        "NIC Switch agent", alive=True, datapath=None, mappings={"physnet2": ("ens4f0",)}
    )
    assert host.agents[1].mappings == {"physnet1": ("br-physnet1",)}


@pytest.mark.parametrize("name", ["compute-1", "compute-1.lab"])
def test_a_host_is_found_by_either_of_its_names(name: str) -> None:
    host = collect(lab()).host(name)
    assert host
    assert host.name == "compute-1"


def test_a_name_without_domain_finds_a_host_only_where_it_is_the_only_one() -> None:
    given = lab()
    hypervisors = given.replies["compute /os-hypervisors/detail"]
    hypervisors[0]["service"]["host"] = "compute-1.east"
    hypervisors[0]["hypervisor_hostname"] = "compute-1.east"
    assert collect(given).host("compute-1")
    hypervisors[1]["service"]["host"] = "compute-1.west"
    hypervisors[1]["hypervisor_hostname"] = "compute-1.west"
    assert collect(given).host("compute-1") is None


def test_a_server_deleted_meanwhile_is_omitted() -> None:
    given = lab()
    del given.replies["compute /servers/id-gateway-1/topology"]
    names = {server.name for server in collect(given).servers}
    assert "gateway-1" not in names
    assert "gateway-2" in names


def test_claims_of_nobody_we_know_are_reported() -> None:
    given = lab()
    claims = given.replies["placement /resource_providers/rp-compute-1/allocations"]
    claims["allocations"]["migration-7"] = {"resources": {"PCPU": 3}}
    host = collect(given).host("compute-1")
    assert host
    assert host.strangers == ("migration-7",)


def test_credentials_that_hide_the_hosts_of_servers_are_an_error() -> None:
    given = lab()
    for server in given.replies["compute /servers/detail"]:
        del server["OS-EXT-SRV-ATTR:host"]
    with pytest.raises(CloudUnreadable, match="does not say on which hosts") as failure:
        collect(given)
    assert "administrator" in failure.value.next_step


@pytest.mark.parametrize(
    ("service", "record"),
    [
        ("compute /os-hypervisors/detail", {"state": "up"}),
        ("compute /flavors/detail", {"name": "f", "vcpus": 1}),
        ("network /ports", {"device_owner": None}),
    ],
)
def test_an_answer_of_another_form_is_one_clear_message(service: str, record: Any) -> None:
    given = lab()
    given.replies[service] = [record]
    with pytest.raises(CloudUnreadable, match="not as the API reference says"):
        collect(given)


def test_a_recording_gives_the_same_cloud_and_holds_nothing_secret(tmp_path: Path) -> None:
    recording = RecordingApi(lab())
    cloud = collect(recording)
    text = recording.text()
    for secret in ("secret", "c2VjcmV0", "password", 'metadata": {"pass'):
        assert secret not in text
    (tmp_path / FILE).write_text(text)
    assert collect(RecordedApi.open(tmp_path)) == cloud


def test_a_recording_without_an_answer_says_which(tmp_path: Path) -> None:
    recording = RecordingApi(lab())
    collect(recording)
    body = json.loads(recording.text())
    del body["replies"]["network /agents"]
    (tmp_path / FILE).write_text(json.dumps(body))
    with pytest.raises(CloudUnreadable, match=r"network /agents \(not recorded\)"):
        collect(RecordedApi.open(tmp_path))
    with pytest.raises(BadInput, match="cannot be read"):
        RecordedApi.open(tmp_path / "nowhere")


def test_a_file_gives_the_same_cloud_and_fits_its_schema() -> None:
    cloud = collect(lab())
    text = json.dumps(CLOUD_FILE.document(cloud))
    assert CLOUD_FILE.parse(text, "it") == cloud
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(json.loads(text))


def test_a_bad_file_is_refused_with_all_its_faults() -> None:
    document = CLOUD_FILE.document(collect(lab()))
    document["hosts"][0]["up"] = "yes"
    document["extra"] = 1
    with pytest.raises(BadInput, match="2 errors") as failure:
        CLOUD_FILE.parse(json.dumps(document), "CLOUD.json")
    assert 'hosts.0.up = "yes": must be a valid boolean' in failure.value.what
    assert "extra = 1: unknown key" in failure.value.what
