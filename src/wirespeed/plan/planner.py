# SPDX-License-Identifier: Apache-2.0
"""Plan a workload on hosts: the host and the resources of each guest.

The function is pure and deterministic. The PMD cores follow from the demanded frame rates, in equal
shares on every host. If guests fail to fit only because PMD threads lack cycles, the hosts get more
PMD cores. This repeats as long as it places more guests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.switch_cost import CycleModel, RatesOfPorts
from wirespeed.model.plan.plan import Plan
from wirespeed.model.plan.policy import InterfaceKind, NicUse
from wirespeed.model.plan.workload import Workload
from wirespeed.plan.deployment.build import build_plan
from wirespeed.plan.deployment.requested import Requested, translate
from wirespeed.plan.errors import PlanError
from wirespeed.plan.host.nics import matches
from wirespeed.plan.host.partition import HostDraft, draft_host
from wirespeed.plan.host.pmd_demand import S2_CYCLES, SwitchDemand, port_hz
from wirespeed.plan.placement.batch import Outcome, place_all
from wirespeed.plan.placement.fit import fit
from wirespeed.plan.pods.build import plan_pods

# Largest number of PMD cores per node tried beyond the demand's even share.
MOST_MORE_PMDS = 3


def plan_workload(
    workload: Workload,
    hosts: Sequence[HostFacts],
    cycles: CycleModel = S2_CYCLES,
    rates: RatesOfPorts | None = None,
) -> Plan:
    """Return the plan. Guests that fit nowhere are in `unplaced`, with reasons.

    rates: predicted rates of ports; None: port types are chosen by S2's results. Raises PlanError
    if the input allows no plan: a port that a host lacks, a host too small for its own cores,
    patterns that match no host.
    """
    _check_hosts(workload, hosts)
    if workload.pools:
        return plan_pods(workload, hosts)
    requested = translate(workload, hosts, cycles, rates or {})
    drafts, outcome = _place(requested, hosts, cycles)
    return build_plan(requested, drafts, outcome)


def _check_hosts(workload: Workload, hosts: Sequence[HostFacts]) -> None:
    names = [host.host for host in hosts]
    if not names:
        raise PlanError("there is no host to plan for", "Give at least one --host FACTS.json.")
    twice = sorted({name for name in names if names.count(name) > 1}) if _repeats(names) else []
    if twice:
        raise PlanError(
            f"host {', '.join(twice)} is given more than once",
            'Each --host must describe another host; its name is "host" in the JSON.',
        )
    for host in hosts:
        unknown = host.why_missing("cpus")
        if unknown and not host.cpus:
            raise PlanError(
                f"host {host.host}: its CPUs and NUMA nodes are not known: {unknown}",
                "Give what `wirespeed inspect --json` says on that host; with --openstack its "
                "servers keep their places.",
            )
    patterns = [(f"nic[{n.network}].hosts", p) for n in workload.nics for p in n.hosts]
    patterns += [(f"aggregate[{a.name}].hosts", p) for a in workload.aggregates for p in a.hosts]
    patterns += [(f"pool[{p.name}].hosts", glob) for p in workload.pools for glob in p.hosts]
    lost = [
        f"{key} = {pattern!r}"
        for key, pattern in patterns
        if not any(fnmatchcase(name, pattern) for name in names)
    ]
    if lost:
        shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        raise PlanError(
            f"no host matches {'; '.join(lost)} (hosts: {shown})",
            "Correct the pattern in the workload, or add the host.",
        )


def _repeats(names: list[str]) -> bool:
    return len(set(names)) < len(names)


def _place(
    requested: Requested, hosts: Sequence[HostFacts], cycles: CycleModel
) -> tuple[list[HostDraft], Outcome]:
    """Partition the hosts and place the guests.

    While only PMD cycles are short, both are repeated with more PMD threads.
    """
    demands = _demands(requested, hosts, cycles)
    best: tuple[list[HostDraft], Outcome] | None = None
    for more in range(MOST_MORE_PMDS + 1):
        try:
            drafts = _drafts(requested, hosts, demands, more)
        except PlanError:
            if best is None:
                raise
            break
        places = [draft.place for draft in drafts]
        outcome = place_all(places, requested.units, requested.workload.placement.objective)
        if best is None or len(outcome.placed) > len(best[1].placed):
            best = drafts, outcome
        if requested.workload.cores.pmd_cores is not None or not _only_cycles_lack(
            requested, drafts, outcome
        ):
            break
    if best is None:
        raise AssertionError("the first attempt places or raises")
    return best


def _drafts(
    requested: Requested, hosts: Sequence[HostFacts], demands: Sequence[SwitchDemand], more: int
) -> list[HostDraft]:
    """Return the partition of every host; equal hosts share one except for their names."""
    drafts: list[HostDraft] = []
    for number, first in enumerate(requested.first_equal):
        if first == number:
            drafts.append(draft_host(hosts[number], requested.workload, demands[number], more))
        else:
            name = hosts[number].host
            place = replace(drafts[first].place, name=name)
            drafts.append(replace(drafts[first], facts=hosts[number], place=place))
    return drafts


def _only_cycles_lack(requested: Requested, drafts: Sequence[HostDraft], outcome: Outcome) -> bool:
    """Return whether an unplaced guest would fit if its vhost ports cost no cycles."""
    kinds = {requested.guests[number][0].name for number in outcome.unplaced}
    for name in kinds:
        request = requested.requests[name]
        free = replace(request, switch_hz=0.0)
        if request.switch_hz and any(
            fit(draft.place.shape, use, free) is not None
            for draft, use in zip(drafts, outcome.uses, strict=True)
        ):
            return True
    return False


def _demands(
    requested: Requested, hosts: Sequence[HostFacts], cycles: CycleModel
) -> list[SwitchDemand]:
    """Return each host's even share of the cycles/s that the vhost ports of a network need."""
    workload = requested.workload
    total: dict[str, float] = {}
    for vnf in workload.vnfs:
        for port in vnf.ports:
            if requested.kinds[vnf.name][port.name].value is InterfaceKind.VHOST:
                network = workload.network(port.network).physical_network
                hz = port_hz(port, InterfaceKind.VHOST, cycles) * vnf.count
                total[network] = total.get(network, 0.0) + hz
    reached: dict[str, set[str]] = {}
    for nic in workload.nics:
        if nic.use is NicUse.DPDK:
            names = {h.host for h in hosts if matches(h.host, nic.hosts)}
            reached.setdefault(workload.network(nic.network).physical_network, set()).update(names)
    internal = sum(hz for network, hz in total.items() if network not in reached) / len(hosts)
    needed = any(network not in reached for network in total)
    # The default costs need no mention; others do.
    source = "" if cycles is S2_CYCLES else cycles.source
    demands = []
    for facts in hosts:
        mine = {
            network: hz / len(reached[network])
            for network, hz in total.items()
            if facts.host in reached.get(network, ())
        }
        demands.append(SwitchDemand(mine, internal, needed, source))
    return demands
