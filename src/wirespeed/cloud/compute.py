# SPDX-License-Identifier: Apache-2.0
"""Read hypervisors, servers, flavors, aggregates and server groups from Nova.

Source: the Compute API reference; microversions are those of `live.WANTED`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wirespeed.cloud.api import Api, CloudUnreadable, Gone, Record
from wirespeed.cloud.each import Each
from wirespeed.model.cloud import (
    CloudAggregate,
    CloudFlavor,
    CloudGroup,
    ComputeHost,
    CpuCounts,
    Server,
    ServerNode,
    ServerPort,
)
from wirespeed.model.input.bounded import load_json

_HOST = "OS-EXT-SRV-ATTR:host"
_INSTANCE = "OS-EXT-SRV-ATTR:instance_name"
_PAGE = "limit=500"


def read_hosts(api: Api) -> tuple[ComputeHost, ...]:
    """Return the hypervisors, without facts of other services."""
    keys = ("hypervisor_hostname", "state", "status", "service", "cpu_info")
    found = api.all("compute", "/os-hypervisors/detail", "hypervisors", keys)
    return tuple(sorted(map(_host, found), key=lambda host: host.name))


def read_servers(
    api: Api, ports: Mapping[str, tuple[ServerPort, ...]], each: Each
) -> tuple[Server, ...]:
    """Return every project's servers. ports: by the server's id."""
    keys = ("id", "name", "status", "flavor", _HOST, _INSTANCE)
    path = f"/servers/detail?all_tenants=True&{_PAGE}"
    found = api.all("compute", path, "servers", keys)
    if any(_HOST not in record for record in found):
        raise CloudUnreadable(
            f"cloud {api.cloud}: Nova does not say on which hosts servers run",
            "Use an administrator's credentials: Nova shows the hosts to no one else.",
        )
    topologies = each(lambda record: _topology(api, record["id"]), found)
    servers = [
        _server(record, topology, ports.get(record["id"], ()))
        for record, topology in zip(found, topologies, strict=True)
        # The server was deleted since it was listed.
        if topology is not None
    ]
    return tuple(sorted(servers, key=lambda server: (server.name, server.id)))


def read_flavors(api: Api) -> tuple[CloudFlavor, ...]:
    """Return public flavors and those of single projects."""
    keys = ("name", "vcpus", "ram", "disk", "extra_specs")
    found = api.all("compute", f"/flavors/detail?is_public=None&{_PAGE}", "flavors", keys)
    flavors = [
        CloudFlavor(f["name"], f["vcpus"], f["ram"], f["disk"], f.get("extra_specs") or {})
        for f in found
    ]
    return tuple(sorted(flavors, key=lambda flavor: flavor.name))


def read_aggregates(api: Api) -> tuple[CloudAggregate, ...]:
    found = api.all("compute", "/os-aggregates", "aggregates", ("name", "hosts", "metadata"))
    aggregates = [
        CloudAggregate(a["name"], tuple(sorted(a["hosts"])), a["metadata"]) for a in found
    ]
    return tuple(sorted(aggregates, key=lambda aggregate: aggregate.name))


def read_groups(api: Api) -> tuple[CloudGroup, ...]:
    path = f"/os-server-groups?all_projects=True&{_PAGE}"
    found = api.all("compute", path, "server_groups", ("name", "policy"))
    return tuple(sorted((CloudGroup(g["name"], g["policy"]) for g in found), key=lambda g: g.name))


def _host(record: Record) -> ComputeHost:
    service = record["service"]
    info = _cpu_info(record.get("cpu_info"))
    counts = info.get("topology") or {}
    known = all(counts.get(name) for name in ("cells", "sockets", "cores", "threads"))
    return ComputeHost(
        name=service["host"],
        hypervisor=record["hypervisor_hostname"],
        up=record["state"] == "up",
        enabled=record["status"] == "enabled",
        disabled_reason=service.get("disabled_reason") or "",
        cpu_model=info.get("model") or "",
        cpu_features=tuple(sorted(info.get("features") or ())),
        cpu_counts=CpuCounts(counts["cells"], counts["sockets"], counts["cores"], counts["threads"])
        if known
        else None,
    )


def _cpu_info(value: Any) -> Record:
    """Return libvirt's CPU information, which is an object, JSON in a text, or nothing."""
    if isinstance(value, str):
        value = load_json(value) if value else {}
    return value if isinstance(value, dict) else {}


def _topology(api: Api, server: str) -> Record | None:
    """Return the place of the server's vCPUs and memory; None where it no longer exists."""
    try:
        return api.one("compute", f"/servers/{server}/topology", ("nodes", "pagesize_kb"))
    except Gone:
        return None


def _server(record: Record, topology: Record, ports: tuple[ServerPort, ...]) -> Server:
    flavor = record["flavor"]
    return Server(
        id=record["id"],
        name=record["name"],
        instance=record.get(_INSTANCE) or "",
        host=record[_HOST],
        status=record["status"],
        flavor=flavor["original_name"],
        vcpus=flavor["vcpus"],
        memory_mib=flavor["ram"],
        extra_specs=flavor.get("extra_specs") or {},
        nodes=tuple(_node(node) for node in topology["nodes"]),
        page_kib=topology.get("pagesize_kb"),
        ports=ports,
    )


def _node(node: Record) -> ServerNode:
    pins = {int(vcpu): cpu for vcpu, cpu in (node.get("cpu_pinning") or {}).items()}
    return ServerNode(
        host_node=node.get("host_node"),
        pins=tuple(sorted(pins.items())),
        vcpus=tuple(sorted(node.get("vcpu_set") or ())),
        memory_mib=node["memory_mb"],
    )
