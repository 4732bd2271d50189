# SPDX-License-Identifier: Apache-2.0
"""Compare an existing OpenStack cloud with a plan, as far as the API reports it.

`old` is the cloud's value, `new` the plan's. Objects that the plan does not name (other flavors,
servers, hosts) are not compared. The API counts a host's CPUs but does not list them, so equal
counts pass as equal. It reports no settings of the kernel, Open vSwitch or libvirt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from wirespeed.model.cloud import (
    Agent,
    Cloud,
    CloudAggregate,
    CloudFlavor,
    CloudNetwork,
    ComputeHost,
)
from wirespeed.model.cpuset import format_list
from wirespeed.model.plan.plan import Decision, HostPlan, Plan
from wirespeed.model.plan.policy import NicUse
from wirespeed.model.plan.workload import Aggregate, ProviderNetwork
from wirespeed.plan.cloud.servers import server_differences
from wirespeed.plan.diff import Difference, Effort, changed
from wirespeed.plan.host.nics import matches
from wirespeed.plan.render.heat import StackFlavor, host_aggregates, stack_flavors
from wirespeed.plan.render.ovs import RenderedOvsDpdk
from wirespeed.plan.render.switches import RENDERED

OVS_AGENT = RenderedOvsDpdk.agent
NIC_AGENT = "NIC Switch agent"
DATAPATH = "netdev"


def diff_cloud(cloud: Cloud, plan: Plan) -> tuple[Difference, ...]:
    """Return all objects and values of the plan that the cloud lacks or has differently."""
    found: list[Difference] = []
    for host in plan.hosts:
        found += _host(host, cloud.host(host.host), plan)
    flavors = {flavor.name: flavor for flavor in cloud.flavors}
    wanted = [*_wanted_flavors(cloud, plan)]
    for each in wanted:
        found += _flavor(each, flavors.get(each.name))
    found += _images(cloud, plan)
    aggregates = {aggregate.name: aggregate for aggregate in cloud.aggregates}
    hosts = {each.host for each in wanted}
    tied = [group for group in host_aggregates(plan) if group.hosts[0] in hosts]
    for group in (*plan.aggregates, *tied):
        found += _aggregate(group, aggregates.get(group.name), plan, cloud)
    networks = {network.name: network for network in cloud.networks}
    for network in plan.networks:
        found += _network(network, networks.get(network.name))
    policies = {group.name: group.policy for group in cloud.groups}
    for one in plan.groups:
        yes = policies.get(one.name)
        found += changed(f"server group {one.name}", "policy", yes, str(one.policy), Effort.REBUILD)
    found += server_differences(cloud, plan)
    return tuple(found)


def _host(plan: HostPlan, host: ComputeHost | None, whole: Plan) -> Iterator[Difference]:
    where = f"host {plan.host}"
    if host is None:
        yield Difference(where, "compute service", None, "up", Effort.LIVE)
        return
    state = "up" if host.up else "down"
    if not host.enabled:
        reason = f": {host.disabled_reason}" if host.disabled_reason else ""
        state = f"disabled{reason}"
    yield from changed(where, "compute service", state, "up", Effort.LIVE)
    if plan.cores:
        yield from _cpus(where, "cpu_dedicated_set", host, "PCPU", plan.cores.dedicated)
        yield from _cpus(where, "cpu_shared_set", host, "VCPU", plan.cores.shared)
    memory = host.inventory.get("MEMORY_MB")
    if plan.reserved_memory_mib and memory:
        reserved = plan.reserved_memory_mib
        yield from changed(
            where, "reserved_host_memory_mb", memory.reserved, reserved.value, Effort.LIVE,
            because=reserved.because,
        )  # fmt: skip
    yield from _agents(where, plan, host, whole)


def _cpus(
    where: str, what: str, host: ComputeHost, resource: str, wanted: Decision[tuple[int, ...]]
) -> Iterator[Difference]:
    inventory = host.inventory.get(resource)
    total = inventory.total if inventory else 0
    if total != len(wanted.value):
        yield Difference(
            where, what, f"{total} {resource}", format_list(wanted.value), Effort.REBUILD,
            wanted.because,
        )  # fmt: skip


def _agents(where: str, plan: HostPlan, host: ComputeHost, whole: Plan) -> Iterator[Difference]:
    agents = {agent.kind: agent for agent in host.agents}
    if plan.vswitch and RENDERED[plan.vswitch.deployed_kind].agent == OVS_AGENT:
        agent = agents.get(OVS_AGENT)
        yield from _alive(where, OVS_AGENT, agent)
        if agent:
            datapath = agent.datapath or "system"
            yield from changed(where, "datapath_type", datapath, DATAPATH, Effort.RESTART_OVS)
    for use, kind in ((NicUse.DPDK, OVS_AGENT), (NicUse.SRIOV, NIC_AGENT)):
        nics = [nic for nic in plan.nics if nic.use is use]
        agent = agents.get(kind)
        if nics and use is NicUse.SRIOV:
            yield from _alive(where, kind, agent)
        for nic in nics if agent else ():
            physical = whole.network(nic.network).physical_network
            mapped = agent.mappings.get(physical, ()) if agent else ()
            # The operator names the bridge, so any will do. A VF's interface must be the planned
            # one.
            missing = not mapped if use is NicUse.DPDK else nic.interface not in mapped
            if missing:
                what = f"{kind}: mapping of {physical}"
                new = "a bridge" if use is NicUse.DPDK else nic.interface
                yield Difference(where, what, ", ".join(mapped) or None, new, Effort.LIVE)


def _alive(where: str, kind: str, agent: Agent | None) -> Iterator[Difference]:
    state = None if agent is None else "alive" if agent.alive else "dead"
    yield from changed(where, kind, state, "alive", Effort.LIVE)


def _wanted_flavors(cloud: Cloud, plan: Plan) -> Iterator[StackFlavor]:
    """Yield the plan's flavors, or where a stack has made some of them for its guests, those."""
    there = {flavor.name for flavor in cloud.flavors}
    used = {server.flavor for server in cloud.servers if server.name in plan.order}
    by_stack = [each for each in stack_flavors(plan) if each.host]
    for flavor in plan.flavors:
        tied = [each for each in by_stack if each.flavor is flavor]
        made = [each for each in tied if each.name in there]
        as_planned = not made or flavor.name in used
        if as_planned:
            yield StackFlavor(flavor, None)
        yield from made if as_planned else tied


def _flavor(named: StackFlavor, flavor: CloudFlavor | None) -> Iterator[Difference]:
    where = f"flavor {named.name}"
    wanted = named.flavor
    if flavor is None:
        yield Difference(where, "flavor", None, "defined", Effort.LIVE)
        return
    yield from changed(where, "vCPUs", flavor.vcpus, wanted.vcpus, Effort.REBUILD)
    yield from changed(where, "memory (MiB)", flavor.memory_mib, wanted.memory_mib, Effort.REBUILD)
    yield from changed(where, "disk (GiB)", flavor.disk_gib, wanted.disk_gib, Effort.REBUILD)
    specs = named.specs
    for key in sorted({*flavor.extra_specs, *specs}):
        why = wanted.specs[key].because if key in wanted.specs else ""
        yield from changed(
            where, key, flavor.extra_specs.get(key), specs.get(key), Effort.REBUILD, because=why
        )


def _images(cloud: Cloud, plan: Plan) -> Iterator[Difference]:
    images = {image.name: image for image in cloud.images}
    for name in dict.fromkeys(flavor.image for flavor in plan.flavors):
        where = f"image {name}"
        if name not in images:
            yield Difference(where, "image", None, "there", Effort.LIVE)
            continue
        wanted: dict[str, str] = {}
        for flavor in plan.flavors:
            if flavor.image == name:
                wanted |= flavor.image_properties
        yield from _values(where, images[name].properties, wanted, Effort.REBUILD)


def _aggregate(
    wanted: Aggregate, aggregate: CloudAggregate | None, plan: Plan, cloud: Cloud
) -> Iterator[Difference]:
    where = f"aggregate {wanted.name}"
    if aggregate is None:
        yield Difference(where, "aggregate", None, "defined", Effort.LIVE)
        return
    yield from _values(where, aggregate.metadata, wanted.metadata, Effort.LIVE)
    for host in plan.hosts:
        known = cloud.host(host.host)
        inside = known is not None and known.name in aggregate.hosts
        if inside != matches(host.host, wanted.hosts):
            was, now = ("member", None) if inside else (None, "member")
            yield Difference(where, f"host {host.host}", was, now, Effort.LIVE)


def _network(wanted: ProviderNetwork, network: CloudNetwork | None) -> Iterator[Difference]:
    where = f"network {wanted.name}"
    if network is None:
        yield Difference(where, "network", None, "defined", Effort.LIVE)
        return
    for what, old, new in (
        ("physical network", network.physical_network, wanted.physical_network),
        ("type", network.type, str(wanted.type)),
        ("segment", network.segment, wanted.segment),
        ("transparent VLAN", network.transparent_vlan, wanted.transparent_vlan),
    ):
        yield from changed(where, what, old, new, Effort.REBUILD)
    yield from changed(where, "MTU", network.mtu, wanted.mtu, Effort.LIVE)


def _values(
    where: str, old: Mapping[str, str], new: Mapping[str, str], effort: Effort
) -> Iterable[Difference]:
    """Yield differences in the wanted keys. Other keys belong to the operator."""
    for key, value in new.items():
        yield from changed(where, key, old.get(key), value, effort)
