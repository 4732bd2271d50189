# SPDX-License-Identifier: Apache-2.0
"""Read and write a plan as a JSON file, whose bytes depend on the plan alone."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.document.kind import DocumentKind
from wirespeed.document.readable_json import readable_json
from wirespeed.model.plan.plan import Plan


def _contradictions(plan: Plan) -> Iterator[str]:
    """Yield names of guests, flavors and networks that a plan uses but does not define."""
    if not plan.hosts:
        yield "hosts = []: must have at least one host"
    guests = {guest.name: guest for host in plan.hosts for guest in host.guests}
    flavors = {flavor.name for flavor in plan.flavors}
    for number, name in enumerate(plan.order):
        if name not in guests:
            yield f'order[{number}] = "{name}": no host has a guest of that name'
        elif guests[name].flavor not in flavors:
            yield f'flavor "{guests[name].flavor}" of guest {name}: not among flavors'
    networks = {network.name for network in plan.networks}
    used = [(port.network, f"guest {g.name}") for g in guests.values() for port in g.ports]
    used += [(port.network, f"pod {pod.name}") for pod in plan.pods for port in pod.ports]
    used += [(nic.network, f"NIC {nic.address}") for h in plan.hosts for nic in h.nics]
    pools = {pool.name for pool in plan.pools}
    for pod in plan.pods:
        if pod.pool not in pools:
            yield f'pool "{pod.pool}" of pod {pod.name}: not among pools'
    for pool in plan.pools:
        if not {host.host for host in plan.hosts} & set(pool.hosts):
            yield f"pool {pool.name}: none of its hosts is among hosts"
    for network, user in used:
        if network and network not in networks:
            yield f'network "{network}" of {user}: not among networks'


PLAN_FILE = DocumentKind(
    Plan,
    name="plan",
    title="wirespeed plan",
    version="1.6",
    called="plan file",
    next_step="Write it with `wirespeed plan make WORKLOAD.toml --host HOST.json -o PLAN.json`.",
    check=_contradictions,
)


def write_plan(plan: Plan) -> str:
    """Return the plan as JSON text."""
    return readable_json(PLAN_FILE.document(plan))
