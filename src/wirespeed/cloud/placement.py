# SPDX-License-Identifier: Apache-2.0
"""Read each host's inventory, claims and traits from Placement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wirespeed.cloud.api import Api, Gone, Record
from wirespeed.cloud.each import Each
from wirespeed.model.cloud import ComputeHost, Inventory, Server


def with_inventories(
    api: Api, hosts: Sequence[ComputeHost], servers: Sequence[Server], each: Each
) -> tuple[ComputeHost, ...]:
    """Return the hosts with their providers' inventories; a host without provider is unchanged."""
    keys = ("uuid", "name", "parent_provider_uuid")
    found = api.all("placement", "/resource_providers", "resource_providers", keys)
    roots = {p["name"]: p["uuid"] for p in found if p["parent_provider_uuid"] is None}
    claimants: dict[str, set[str]] = {}
    for server in servers:
        if server.host is not None:
            claimants.setdefault(server.host, set()).add(server.id)

    def read(host: ComputeHost) -> ComputeHost:
        provider = roots.get(host.hypervisor)
        if provider is None:
            return host
        return _with_inventory(api, host, provider, claimants.get(host.name, set()))

    return tuple(each(read, hosts))


def _with_inventory(api: Api, host: ComputeHost, provider: str, servers: set[str]) -> ComputeHost:
    base = f"/resource_providers/{provider}"
    try:
        inventories = api.one("placement", f"{base}/inventories", ("inventories",))["inventories"]
        traits = api.one("placement", f"{base}/traits", ("traits",))["traits"]
        claims = api.one("placement", f"{base}/allocations", ("allocations",))["allocations"]
    except Gone:
        return host
    claimed = _sums(claims)
    return replace(
        host,
        inventory={
            name: Inventory(value["total"], value["reserved"], claimed.get(name, 0))
            for name, value in sorted(inventories.items())
        },
        traits=tuple(sorted(traits)),
        strangers=tuple(sorted(set(claims) - servers)),
    )


def _sums(claims: Mapping[str, Record]) -> dict[str, int]:
    total: dict[str, int] = {}
    for claim in claims.values():
        for name, amount in claim["resources"].items():
            total[name] = total.get(name, 0) + amount
    return total
