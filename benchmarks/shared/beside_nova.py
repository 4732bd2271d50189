# SPDX-License-Identifier: Apache-2.0
"""Run the part of plan_vs_nova that needs Nova's environment."""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from random import Random
from statistics import mean

from benchmarks.shared.figures import show
from benchmarks.shared.mixes import Mix, random_mix
from nova import objects
from nova.scheduler import weights
from nova.scheduler.filters.numa_topology_filter import NUMATopologyFilter
from nova.scheduler.filters.pci_passthrough_filter import PciPassthroughFilter
from nova.scheduler.host_manager import HostState
from nova.virt import hardware
from tests.nova_library.world import (
    flavor,
    host_topology,
    image,
    limits,
    pci_requests,
    pci_stats,
)
from tests.support.examples import empty
from tests.support.random_cases import random_guest, random_host

from wirespeed.model.host.facts import HostFacts
from wirespeed.plan.nova.guests import guest_request
from wirespeed.plan.placement.batch import Outcome, place_all
from wirespeed.plan.placement.fit import fit
from wirespeed.plan.placement.host import HostShape, HostUse
from wirespeed.plan.placement.request import GuestRequest
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload

PAIRS = 6000
TURNS = 12
MIXES = 200
HOSTS, GUESTS = 5_000, 10_000
PROMISED_SPEEDUP = 20.0
PROMISED_PLAN_S = 60.0

Decision = Callable[[], object]


def main() -> int:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    good = decisions()
    good &= mixes()
    good &= large()
    return 0 if good else 1


def decisions() -> bool:
    """Let both decide every pair once; all they need is built before the clock starts.

    The clock is this thread's CPU time: on a busy machine wall time depends on other programs.
    """
    ours, theirs = _prepare(PAIRS)
    spent = {"ours": 0.0, "nova": 0.0}
    size = PAIRS // TURNS
    for turn in range(TURNS):
        part = slice(turn * size, (turn + 1) * size)
        order = (("ours", ours), ("nova", theirs))
        for name, calls in order if turn % 2 else reversed(order):
            started = time.thread_time()
            for call in calls[part]:
                call()
            spent[name] += time.thread_time() - started
    our_rate, nova_rate = PAIRS / spent["ours"], PAIRS / spent["nova"]
    show("nova_fit_decisions", nova_rate, "1/cpu-s")
    show("wirespeed_fit_decisions", our_rate, "1/cpu-s", our_rate / nova_rate, "nova_fit_decisions")
    return our_rate >= PROMISED_SPEEDUP * nova_rate


def _prepare(count: int) -> tuple[list[Decision], list[Decision]]:
    ours: list[Decision] = []
    theirs: list[Decision] = []
    seed = 0
    while len(ours) < count:
        random = Random(seed)
        seed += 1
        shape, use = random_host(random)
        vnf, workload, kinds = random_guest(random)
        guest = guest_request(vnf, workload, kinds)
        guest = replace(guest, labels=frozenset(), forbidden_labels=frozenset())
        wanted = hardware.numa_get_constraints(flavor(vnf, workload), image(vnf))
        ours.append(_our_call(shape, use, guest))
        theirs.append(_nova_call(shape, use, guest, wanted))
    return ours, theirs


def _our_call(shape: HostShape, use: HostUse, guest: GuestRequest) -> Decision:
    return lambda: fit(shape, use, guest)


def _nova_call(shape: HostShape, use: HostUse, guest: GuestRequest, wanted: object) -> Decision:
    topology = host_topology(shape, use)
    arguments = {
        "provider_mapping": {},
        "limits": limits(shape, guest),
        "pci_requests": pci_requests(guest),
        "pci_stats": pci_stats(shape, use, topology),
    }
    return lambda: hardware.numa_fit_instance_to_host(topology, wanted, **arguments)


def mixes() -> bool:
    """Check that no fewer guests are placed than by Nova, and that Nova accepts each plan."""
    gains = []
    fewer = refused = ours_total = nova_total = asked = 0
    for seed in range(MIXES):
        mix = random_mix(Random(seed))
        outcome = place_all(mix.hosts, mix.units)
        placed = len(outcome.placed)
        by_nova = NovaScheduler(mix).place_in_order()
        refused += not NovaScheduler(mix).carries_out(outcome)
        fewer += placed < by_nova
        gains.append(placed / by_nova - 1 if by_nova else 0.0)
        ours_total += placed
        nova_total += by_nova
        asked += len(mix.units)
    show("mixes_guests_asked_for", asked, "guests")
    show("mixes_placed_by_nova_in_order", nova_total, "guests")
    show("mixes_placed_by_wirespeed", ours_total, "guests", ours_total / nova_total,
         "mixes_placed_by_nova_in_order")  # fmt: skip
    show("mixes_average_gain", 100 * mean(gains), "%")
    show("mixes_with_more_than_nova", sum(gain > 0 for gain in gains), f"of {MIXES}")
    show("mixes_with_fewer_than_nova", fewer, f"of {MIXES}")
    show("mixes_plans_refused_by_nova", refused, f"of {MIXES}")
    return not fewer and not refused


class NovaScheduler:
    """Nova's host states, its NUMA and PCI filters and all its default weighers."""

    def __init__(self, mix: Mix) -> None:
        self._mix = mix
        self._states = [self._state(number) for number in range(len(mix.hosts))]
        self._filters = [NUMATopologyFilter(), PciPassthroughFilter()]
        handler = weights.HostWeightHandler()
        self._weighers = [weigher() for weigher in handler.get_all_classes()]
        self._handler = handler
        self._specs = {unit.kind: self._spec(unit.kind) for unit in mix.units}

    def place_in_order(self) -> int:
        """Return how many guests find a host, asked for one after another as listed."""
        return sum(self._schedule(unit.kind) for unit in self._mix.units)

    def carries_out(self, outcome: Outcome) -> bool:
        """Return whether each guest passes the filters on the host that the plan names."""
        for placed in outcome.placed:
            spec = self._specs[self._mix.units[placed.guest].kind].obj_clone()
            state = self._states[placed.host]
            if not self._passes(state, spec):
                return False
            self._consume(state, spec)
        return True

    def _schedule(self, kind: int) -> bool:
        spec = self._specs[kind].obj_clone()
        fitting = [state for state in self._states if self._passes(state, spec)]
        if not fitting:
            return False
        ranked = self._handler.get_weighed_objects(self._weighers, fitting, spec)
        self._consume(ranked[0].obj, spec)
        return True

    def _passes(self, state: HostState, spec: objects.RequestSpec) -> bool:
        """Apply the filters to fresh candidates from placement: filters drop some of them."""
        state.allocation_candidates = [{"mappings": {}}]
        return all(check.host_passes(state, spec) for check in self._filters)

    @staticmethod
    def _consume(state: HostState, spec: objects.RequestSpec) -> None:
        state.consume_from_request(spec)
        state.num_io_ops = 0  # the guest is built long before the next one is asked for

    def _state(self, number: int) -> HostState:
        host = self._mix.hosts[number]
        state = HostState(host.name, host.name, "cell")
        state.numa_topology = host_topology(host.shape, host.use)
        state.pci_stats = pci_stats(host.shape, host.use, state.numa_topology)
        cells = host.shape.cells
        state.total_usable_ram_mb = sum(cell.memory_mib for cell in cells)
        state.free_ram_mb = state.total_usable_ram_mb
        state.vcpus_total = sum((c.floating | c.pinning).bit_count() for c in cells)
        state.free_disk_mb = 10_000_000
        state.cpu_allocation_ratio = host.shape.cpu_ratio
        state.ram_allocation_ratio = host.shape.ram_ratio
        state.disk_allocation_ratio = 1.0
        state.hypervisor_version = 9_000_000
        return state

    def _spec(self, kind: int) -> objects.RequestSpec:
        vnf, guest = self._mix.vnfs[kind]
        made = flavor(vnf, self._mix.workload)
        return objects.RequestSpec(
            flavor=made,
            image=image(vnf),
            numa_topology=hardware.numa_get_constraints(made, image(vnf)),
            pci_requests=objects.InstancePCIRequests(requests=pci_requests(guest)),
            instance_group=None, requested_destination=None, num_instances=1,
            requested_resources=[], request_level_params=objects.RequestLevelParams(),
            instance_uuid="00000000-0000-0000-0000-000000000000",
        )  # fmt: skip


def large() -> bool:
    """Plan 5,000 hosts of two kinds, then 5,000 hosts that all differ in memory."""
    text = _large_workload()
    alike = [_large_host(number) for number in range(HOSTS)]
    different = [
        replace(
            facts, nodes=tuple(replace(n, memory_kib=n.memory_kib - number) for n in facts.nodes)
        )
        for number, facts in enumerate(alike)
    ]
    good = True
    for name, hosts in (("two_kinds", alike), ("all_different", different)):
        started = time.perf_counter()
        plan = plan_workload(parse_workload(text, "large"), hosts)
        spent_s = time.perf_counter() - started
        placed = sum(len(host.guests) for host in plan.hosts)
        show(f"plan_5000_hosts_{name}", spent_s, "s", spent_s / PROMISED_PLAN_S, "promise-60s")
        show(f"plan_5000_hosts_{name}_placed", placed, f"of {GUESTS} guests")
        good &= spent_s <= PROMISED_PLAN_S
    return good


def _large_host(number: int) -> HostFacts:
    machine, letter = ("s3-r740xd", "a") if number % 2 else ("s2-r730", "b")
    return empty(machine, f"{letter}{number}")


def _large_workload() -> str:
    """Return 20 VNFs of 500 guests each: on the vSwitch, on VFs, or without a port."""
    text = """
name = "large"
network = [{name = "access", physical_network = "physnet1", mtu = 9000},
           {name = "core", physical_network = "physnet2"}]
nic = [{network = "access", use = "dpdk", ports = ["0000:5e:00.0", "0000:60:00.0"], hosts = ["a*"]},
       {network = "core", use = "sriov", ports = ["0000:af:00.0"], hosts = ["a*"]},
       {network = "core", use = "sriov", ports = ["0000:04:00.0"], hosts = ["b*"]}]
"""
    ports = (
        "port = [{name = 'p', network = 'access', kind = 'vhost', rate_fps = 2e5}]",
        "port = [{name = 'p', network = 'core', kind = 'sriov'}]",
        "",
    )
    for number in range(20):
        text += f"""
[[vnf]]
name = "v{number}"
count = {GUESTS // 20}
vcpus = {2 + 2 * (number % 8)}
memory_mib = {2048 * (1 + number % 4)}
page_size = "1GiB"
cpu_policy = "dedicated"
thread_policy = "{("prefer", "require")[number % 2]}"
{ports[number % 3]}
"""
    return text


if __name__ == "__main__":
    sys.exit(main())
