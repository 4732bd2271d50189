# SPDX-License-Identifier: Apache-2.0
"""The hosts of a plan: a real nova-compute each, which reads the nova.conf rendered for that host,
and their agents, reported as the rendered agent files say.

The declared overlay, all that is added to what was rendered: where the services are, the host's
name, and directories of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.openstack.control_plane import ControlPlane
from tests.openstack.rest import Api
from tests.openstack.services.interface import inside
from tests.openstack.simulated_host import document
from tests.openstack.site import Sections, Site, ini
from wirespeed.model.facts import HostFacts
from wirespeed.model.plan import Plan

PROGRAM, AGENTS = "nova-computes", "neutron-agents"


@dataclass(frozen=True, slots=True)
class Computes:
    """documents: what libvirt says of each host, by name. domains: files UUID.xml."""

    documents: Mapping[str, Mapping[str, Any]]
    domains: Path


def start(
    control: ControlPlane, plan: Plan, facts: Sequence[HostFacts], rendered: Mapping[str, str]
) -> Computes:
    """All computes, known to the scheduler, with their inventories in Placement."""
    site, processes = control.site, control.processes
    domains, plugged = site.folder("domains"), site.folder("plugged")
    by_name = {each.host: each for each in facts}
    hosts = []
    for host in plan.hosts:
        configs = [site.root / "nova/nova.conf", *_configs(site, host.host, rendered)]
        hosts.append({
            **document(host, by_name[host.host]),
            "configs": [str(path) for path in configs],
            "log": str(processes.log(f"nova-compute-{host.host}")),
            "domains": str(domains), "plugged": str(plugged),
        })  # fmt: skip
    told = site.write("computes.json", json.dumps({"hosts": hosts}))
    processes.start(inside(PROGRAM, "computes.py", str(told)))
    agents = site.write("agents.json", _agents(plan, rendered, plugged))
    neutron = str(site.root / "neutron/neutron.conf")
    processes.start(inside(AGENTS, "agents.py", neutron, str(agents)))
    _wait(control, plan)
    return Computes({host["host"]: host for host in hosts}, domains)


def _configs(site: Site, host: str, rendered: Mapping[str, str]) -> tuple[Path, Path]:
    state = site.folder(f"computes/{host}")
    overlay: Sections = {
        "DEFAULT": {
            "host": host, "compute_driver": "libvirt.LibvirtDriver", "state_path": state,
            "instances_path": site.folder(f"computes/{host}/instances"),
        },
        "oslo_concurrency": {"lock_path": site.folder(f"computes/{host}/locks")},
    }  # fmt: skip
    return (
        site.write(f"computes/{host}/rendered.conf", rendered[f"openstack/{host}/nova.conf"]),
        site.write(f"computes/{host}/overlay.conf", ini(overlay)),
    )


def _agents(plan: Plan, rendered: Mapping[str, str], plugged: Path) -> str:
    hosts = [
        {
            "host": host.host,
            "ovs": rendered.get(f"openstack/{host.host}/openvswitch_agent.ini"),
            "sriov": rendered.get(f"openstack/{host.host}/sriov_agent.ini"),
        }
        for host in plan.hosts
    ]
    return json.dumps({"hosts": hosts, "plugged": str(plugged)})


def _wait(control: ControlPlane, plan: Plan) -> None:
    api = Api(control.site)
    names = {host.host for host in plan.hosts}

    def known() -> bool:
        listed = api.get("nova", "/os-hypervisors")["hypervisors"]
        return {str(each["hypervisor_hostname"]) for each in listed} == names

    def counted() -> bool:
        providers = api.get("placement", "/resource_providers")["resource_providers"]
        return all(
            api.get("placement", f"/resource_providers/{each['uuid']}/inventories")["inventories"]
            for each in providers
        )

    def reported() -> bool:
        found = {each["host"] for each in api.get("neutron", "/agents")["agents"] if each["alive"]}
        return names <= found

    control.processes.wait("computes known to Nova", known)
    control.processes.wait("inventories in Placement", counted)
    control.processes.wait("agents known to Neutron", reported)
