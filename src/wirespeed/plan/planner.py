# SPDX-License-Identifier: Apache-2.0
"""Given a workload and the facts of all hosts: who runs where, with which cores, memory and ports?

Pure and deterministic. The PMD cores follow from the demanded frame rates, an even share on every
host; where guests are left only because PMDs lack cycles, the hosts are cut up again with more of
them, as long as that places more guests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from wirespeed.model.facts import HostFacts
from wirespeed.model.plan import Plan
from wirespeed.model.policy import InterfaceKind, NicUse
from wirespeed.model.workload import Workload
from wirespeed.plan.asked import Asked, ask
from wirespeed.plan.build import build_plan
from wirespeed.plan.errors import PlanError
from wirespeed.plan.host_draft import HostDraft, draft_host
from wirespeed.plan.nics import matches
from wirespeed.plan.placement.batch import Outcome, place_all
from wirespeed.plan.placement.fit import fit
from wirespeed.plan.pmd_demand import S2_CYCLES, CycleModel, SwitchDemand, port_hz

# More PMD cores a node than the demand's even share are tried up to this many.
MOST_MORE_PMDS = 3


def plan_workload(
    workload: Workload, hosts: Sequence[HostFacts], cycles: CycleModel = S2_CYCLES
) -> Plan:
    """The plan. Guests that fit nowhere are in `unplaced` with the reasons.

    Raises PlanError where the input allows no plan at all: a port that a host does not have, a host
    too small for its own cores, patterns that match no host.
    """
    _check_hosts(workload, hosts)
    asked = ask(workload, hosts, cycles)
    drafts, outcome = _place(asked, hosts, cycles)
    return build_plan(asked, drafts, outcome)


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
    patterns = [(f"nic[{n.network}].hosts", p) for n in workload.nics for p in n.hosts]
    patterns += [(f"aggregate[{a.name}].hosts", p) for a in workload.aggregates for p in a.hosts]
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
    asked: Asked, hosts: Sequence[HostFacts], cycles: CycleModel
) -> tuple[list[HostDraft], Outcome]:
    """Cut the hosts up and place; again with more PMDs while only cycles keep guests out."""
    demands = _demands(asked, hosts, cycles)
    best: tuple[list[HostDraft], Outcome] | None = None
    for more in range(MOST_MORE_PMDS + 1):
        try:
            drafts = _drafts(asked, hosts, demands, more)
        except PlanError:
            if best is None:
                raise
            break
        places = [draft.place for draft in drafts]
        outcome = place_all(places, asked.units, asked.workload.placement.objective)
        if best is None or len(outcome.placed) > len(best[1].placed):
            best = drafts, outcome
        if asked.workload.cores.pmd_cores is not None or not _only_cycles_lack(
            asked, drafts, outcome
        ):
            break
    if best is None:
        raise AssertionError("the first attempt places or raises")
    return best


def _drafts(
    asked: Asked, hosts: Sequence[HostFacts], demands: Sequence[SwitchDemand], more: int
) -> list[HostDraft]:
    """Every host cut up; hosts that are alike share one draft but for their names."""
    drafts: list[HostDraft] = []
    for number, first in enumerate(asked.first_alike):
        if first == number:
            drafts.append(draft_host(hosts[number], asked.workload, demands[number], more))
        else:
            name = hosts[number].host
            place = replace(drafts[first].place, name=name)
            drafts.append(replace(drafts[first], facts=hosts[number], place=place))
    return drafts


def _only_cycles_lack(asked: Asked, drafts: Sequence[HostDraft], outcome: Outcome) -> bool:
    """Whether some unplaced guest would fit somewhere if its vhost ports cost nothing."""
    kinds = {asked.guests[number][0].name for number in outcome.unplaced}
    for name in kinds:
        request = asked.requests[name]
        free = replace(request, switch_hz=0.0)
        if request.switch_hz and any(
            fit(draft.place.shape, use, free) is not None
            for draft, use in zip(drafts, outcome.uses, strict=True)
        ):
            return True
    return False


def _demands(asked: Asked, hosts: Sequence[HostFacts], cycles: CycleModel) -> list[SwitchDemand]:
    """Each host's even share of the cycles/s that all vhost ports demand of a network."""
    workload = asked.workload
    total: dict[str, float] = {}
    for vnf in workload.vnfs:
        for port in vnf.ports:
            if asked.kinds[vnf.name][port.name].value is InterfaceKind.VHOST:
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
    demands = []
    for facts in hosts:
        mine = {
            network: hz / len(reached[network])
            for network, hz in total.items()
            if facts.host in reached.get(network, ())
        }
        demands.append(SwitchDemand(mine, internal, needed))
    return demands
