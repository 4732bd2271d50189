# SPDX-License-Identifier: Apache-2.0
"""Start the hosts of a plan: a real nova-compute each, and reports of their Neutron agents.

Each nova-compute reads the nova.conf rendered for its host. The overlay adds only the addresses of
the services, the host's name, and directories of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from tests.cloud.control_plane import ControlPlane
from tests.cloud.rest import Api
from tests.cloud.services.interface import inside
from tests.cloud.simulated_host import document
from tests.cloud.site import Sections, Site, ini
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan

# Seconds between two questions to an API, which take CPU time that the hosts need.
ASK_S = 0.5
PROGRAM, AGENTS = "nova-computes", "neutron-agents"
OVS_AGENT, SRIOV_AGENT = "neutron-openvswitch-agent", "neutron-sriov-nic-agent"
# Programs by the names that Neutron knows, and the files rendered for them.
AGENT_FILES = {OVS_AGENT: "openvswitch_agent.ini", SRIOV_AGENT: "sriov_agent.ini"}


@dataclass(frozen=True, slots=True)
class Computes:
    """Running computes of a plan."""

    documents: Mapping[str, Mapping[str, Any]]
    """libvirt's view of each host, by name."""
    domains: Path
    """Directory of the domains' files, UUID.xml."""
    programs: tuple[str, ...]
    """Names of the programs started for them."""

    def end(self, control: ControlPlane) -> None:
        """End the programs and remove the hosts from all services. They must have no guest."""
        for name in reversed(self.programs):
            control.processes.stop(name)
        api = Api(control.site)
        # Nova has Placement forget the host's inventory, too.
        for each in api.get("nova", "/os-services?binary=nova-compute")["services"]:
            api.delete("nova", f"/os-services/{each['id']}")
        for each in api.get("neutron", "/agents")["agents"]:
            api.delete("neutron", f"/agents/{each['id']}")


class StartComputes(Protocol):
    """Start the computes of a plan. rendered: the files of target `openstack`, by name."""

    def __call__(
        self, control: ControlPlane, plan: Plan, *, rendered: Mapping[str, str]
    ) -> Computes: ...


def simulated(facts: Sequence[HostFacts]) -> StartComputes:
    """Return a function that starts simulated hosts with these facts."""
    return partial(_start, facts=facts)


def _start(
    control: ControlPlane, plan: Plan, rendered: Mapping[str, str], facts: Sequence[HostFacts]
) -> Computes:
    """Start all computes and wait until the scheduler and Placement know them."""
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
    listed = site.write("computes.json", json.dumps({"hosts": hosts}))
    processes.start(inside(PROGRAM, "computes.py", str(listed)))
    agents = site.write("agents.json", _agents(plan, rendered, plugged))
    neutron = str(site.root / "neutron/neutron.conf")
    processes.start(inside(AGENTS, "agents.py", neutron, str(agents)))
    wait(control, plan, rendered)
    return Computes({host["host"]: host for host in hosts}, domains, (PROGRAM, AGENTS))


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
            "ovs": rendered.get(f"openstack/{host.host}/{AGENT_FILES[OVS_AGENT]}"),
            "sriov": rendered.get(f"openstack/{host.host}/{AGENT_FILES[SRIOV_AGENT]}"),
        }
        for host in plan.hosts
    ]
    return json.dumps({"hosts": hosts, "plugged": str(plugged)})


def wait(
    control: ControlPlane, plan: Plan, rendered: Mapping[str, str], timeout_s: float = 240
) -> None:
    """Wait until Nova, Placement and Neutron know the plan's hosts. Raise CloudError."""
    api = Api(control.site)
    names = {host.host for host in plan.hosts}
    agents = {
        (name, binary)
        for name in names
        for binary, file in AGENT_FILES.items()
        if f"openstack/{name}/{file}" in rendered
    }

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
        """Return whether every agent whose file was rendered is alive."""
        listed = api.get("neutron", "/agents")["agents"]
        return agents <= {(each["host"], each["binary"]) for each in listed if each["alive"]}

    control.processes.wait("computes known to Nova", known, timeout_s, ASK_S)
    control.processes.wait("inventories in Placement", counted, timeout_s, ASK_S)
    control.processes.wait("agents known to Neutron", reported, timeout_s, ASK_S)
