# SPDX-License-Identifier: Apache-2.0
"""Check that many guests are placed on many hosts well, within limits and repeatably."""

from __future__ import annotations

from random import Random

import pytest

from tests.support.random_cases import random_guest, random_host
from wirespeed.model.plan.host_rules import Objective
from wirespeed.model.plan.policy import CpuPolicy
from wirespeed.plan.nova.guests import guest_request
from wirespeed.plan.placement.batch import Outcome, PlacementHost, Unit, place_all
from wirespeed.plan.placement.fit import fit
from wirespeed.plan.placement.host import CellShape, HostShape, empty_use
from wirespeed.plan.placement.request import CellRequest, GuestRequest
from wirespeed.plan.placement.take import take


def node(cpus: int, name: str = "h") -> PlacementHost:
    cores = tuple(1 << n for n in range(cpus))
    shape = HostShape((CellShape(0, 0, sum(cores), cores, 65536, (4,), (65536 * 256,)),))
    return PlacementHost(name, shape, empty_use(shape, ()))


def pinned(cpus: int) -> GuestRequest:
    cell = CellRequest((), tuple(range(cpus)), 256)
    return GuestRequest(f"{cpus} CPUs", (cell,), cpu_policy=CpuPolicy.DEDICATED)


def units(*sizes: int) -> list[Unit]:
    return [Unit(size, (number,), (pinned(size),)) for number, size in enumerate(sizes)]


def replay(hosts: list[PlacementHost], asked: list[Unit], outcome: Outcome) -> None:
    """Check that Nova, asked in the order of the plan for these hosts, gets the same uses."""
    requests = {n: r for unit in asked for n, r in zip(unit.guests, unit.requests, strict=True)}
    groups = {n: unit.anti_affinity for unit in asked for n in unit.guests}
    uses = [host.use for host in hosts]
    for placed in outcome.placed:
        shape, request = hosts[placed.host].shape, requests[placed.guest]
        assert fit(shape, uses[placed.host], request) == placed.place
        uses[placed.host] = take(
            shape, uses[placed.host], request, placed.place, groups[placed.guest]
        )
    assert tuple(uses) == outcome.uses


def test_the_order_of_the_list_does_not_decide() -> None:
    """List small guests first, for which Nova's spreading would each open another host."""
    hosts = [node(8, name) for name in "ab"]
    asked = units(2, 2, 6, 6)
    outcome = place_all(hosts, asked)
    assert not outcome.unplaced
    replay(hosts, asked, outcome)


def test_the_most_guests_are_placed_when_not_all_fit() -> None:
    hosts = [node(8)]
    outcome = place_all(hosts, units(8, 2, 2, 2, 2))
    assert len(outcome.placed) == 4


def test_spreading_uses_all_hosts() -> None:
    hosts = [node(8, name) for name in "abcd"]
    packed = place_all(hosts, units(2, 2, 2, 2), Objective.PACK)
    spread = place_all(hosts, units(2, 2, 2, 2), Objective.SPREAD)
    assert len({p.host for p in packed.placed}) == 1
    assert len({p.host for p in spread.placed}) == 4


def test_a_unit_is_placed_whole_or_not_at_all() -> None:
    hosts = [node(4, "a"), node(6, "b")]
    together = Unit(0, (0, 1), (pinned(3), pinned(3)))
    outcome = place_all(hosts, [together])
    assert {p.host for p in outcome.placed} == {1}
    outcome = place_all(hosts[:1], [together])
    assert outcome.unplaced == (0, 1)


def test_anti_affinity_groups() -> None:
    hosts = [node(8, name) for name in "ab"]
    units = [Unit(0, (n,), (pinned(1),), frozenset({"g"})) for n in range(3)]
    outcome = place_all(hosts, units)
    assert sorted(p.host for p in outcome.placed) == [0, 1]
    assert outcome.unplaced == (2,)


@pytest.mark.parametrize("seed", range(30))
def test_random_mixes_are_replayable_and_repeatable(seed: int) -> None:
    random = Random(seed)
    hosts = []
    for number in range(random.randint(1, 6)):
        shape, use = random_host(random)
        hosts.append(PlacementHost(f"h{number}", shape, use))
    asked = []
    for kind in range(random.randint(1, 6)):
        vnf, workload, kinds = random_guest(random)
        request = guest_request(vnf, workload, kinds)
        for _ in range(random.randint(1, 4)):
            asked.append(Unit(kind, (len(asked),), (request,)))
    outcome = place_all(hosts, asked)
    replay(hosts, asked, outcome)
    assert place_all(hosts, asked) == outcome
    assert sorted([*outcome.unplaced, *(p.guest for p in outcome.placed)]) == list(
        range(len(asked))
    )
