# SPDX-License-Identifier: Apache-2.0
"""Check that the planner fits a guest exactly when Nova does, and that Nova accepts its pinning."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from nova import exception
from nova.virt import hardware

from tests.nova_library.world import (
    flavor,
    host_topology,
    image,
    nova_fit,
    nova_fit_fresh,
    pinned_topology,
)
from tests.support.effort import effort
from tests.support.random_cases import random_guest, random_host
from wirespeed.model.plan.policy import ThreadPolicy
from wirespeed.plan.nova.guests import guest_request
from wirespeed.plan.placement.fit import fit
from wirespeed.plan.placement.host import CellFit, Fit, HostShape, HostUse
from wirespeed.plan.placement.request import GuestRequest
from wirespeed.plan.placement.take import take

HOSTS = effort(1_000, 10_000)
GUESTS_A_HOST = 3
CHUNKS = 20

# Nova's objects carry no type annotations.
Topology = Any

# Known reasons why the answers may differ; any other fails the test.
REUSED = "Nova's search changes the request it tests (page size, cell ids of its caches)"
HALF_CORE = "Nova reserves a core whose sibling is taken, and its own claim then refuses it"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_same_answer_and_accepted_pinning(chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * HOSTS // CHUNKS, (chunk + 1) * HOSTS // CHUNKS):
        random = Random(seed)
        shape, use = random_host(random)
        for _ in range(GUESTS_A_HOST):
            use = _compare(random, seed, shape, use, seen)
    print(dict(seen))
    # A consequence of REUSED.
    assert seen["on other nodes"] < seen["both fit"] / 20
    assert seen["both fit"] > seen["neither"] / 20
    assert seen["neither"] > seen["both fit"] / 20


def _compare(
    random: Random, seed: int, shape: HostShape, use: HostUse, seen: Counter[str]
) -> HostUse:
    """Ask both, check our placement in Nova, and place the guest if it fits."""
    vnf, workload, kinds = random_guest(random)
    guest = guest_request(vnf, workload, kinds)
    # The library decides NUMA and PCI; placement decides traits and aggregates.
    guest = replace(guest, labels=frozenset(), forbidden_labels=frozenset())
    wanted = hardware.numa_get_constraints(flavor(vnf, workload), image(vnf))
    ours = fit(shape, use, guest)
    theirs = nova_fit(shape, use, guest, wanted)
    if (ours is None) == (theirs is None):
        seen["neither" if ours is None else "both fit"] += 1
        if ours is not None:
            seen[_same_cpus(shape, use, ours, theirs)] += 1
    else:
        reason = _reason(shape, use, guest, wanted, theirs if ours is None else None)
        assert reason, f"seed {seed}: ours {ours}, Nova's {theirs}, {guest}, {shape}, {use}"
        seen[f"only {'Nova' if ours is None else 'we'} fit: {reason}"] += 1
    if ours is None:
        return use
    _accepted(shape, use, guest, wanted, ours)
    return take(shape, use, guest, ours)


def _same_cpus(shape: HostShape, use: HostUse, ours: Fit, theirs: Topology) -> str:
    """Check that on the same nodes Nova pins to the CPUs of the plan, in the same order."""
    if [cell.id for cell in theirs.cells] != [shape.cells[found.cell].id for found in ours.cells]:
        return "on other nodes"
    for cell, found in zip(theirs.cells, ours.cells, strict=True):
        taken = [cpu for _, cpu in sorted((cell.cpu_pinning or {}).items())]
        # If no more than a core is free, Nova takes the free CPUs in their own order.
        if use.cells[found.cell].free.bit_count() > shape.cells[found.cell].threads:
            assert taken == list(found.pins)
    return "on the same CPUs"


def _reason(
    shape: HostShape, use: HostUse, guest: GuestRequest, wanted: Topology, only_theirs: Topology
) -> str | None:
    """Return the known cause of a fit on one side only; only_theirs: None if only ours fits."""
    if only_theirs is not None and _claim_refuses(shape, use, only_theirs):
        return HALF_CORE
    if nova_fit_fresh(shape, use, guest, wanted) == (only_theirs is None):
        return REUSED
    return None


def _claim_refuses(shape: HostShape, use: HostUse, theirs: Topology) -> bool:
    try:
        hardware.numa_usage_from_instance_numa(host_topology(shape, use), theirs)
    except (exception.CPUPinningInvalid, exception.CPUPinningUnknown):
        return True
    return False


def _accepted(
    shape: HostShape, use: HostUse, guest: GuestRequest, wanted: Topology, ours: Fit
) -> None:
    """Check that Nova's claim accepts our pinning, and that Nova finds no other CPUs.

    Nova is asked again with all other CPUs taken.
    """
    topology = pinned_topology(shape, guest, ours, wanted)
    hardware.numa_usage_from_instance_numa(host_topology(shape, use), topology)
    kept = {found.cell: _kept(shape, guest, found) for found in ours.cells}
    cells = tuple(
        cell._replace(free=cell.free & kept.get(i, 0)) for i, cell in enumerate(use.cells)
    )
    only_ours = use._replace(cells=cells)
    assert nova_fit_fresh(shape, only_ours, guest, wanted)
    for cell, found in zip(topology.cells, ours.cells, strict=True):
        assert len(set(found.pins)) == len(found.pins) == len(cell.pcpuset)


def _kept(shape: HostShape, guest: GuestRequest, found: CellFit) -> int:
    """Return our CPUs; for `require` whole cores, as it wants a free sibling even for one vCPU."""
    if guest.thread_policy is not ThreadPolicy.REQUIRE:
        return found.taken
    cores = shape.cells[found.cell].cores
    return sum(core for core in cores if core & found.taken or not found.pins)
