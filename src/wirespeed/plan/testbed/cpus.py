# SPDX-License-Identifier: Apache-2.0
"""Assign the CPUs that a bench's vSwitch, network functions and generator poll on.

Every poller gets a physical core of its own on one NUMA node, if there are enough cores. Otherwise
pollers share cores in a fixed order. First each direction's sender and receiver share, then the
directions. Then the network functions move to the generator's core. The vSwitch keeps its core to
the last, because it is measured. On two CPUs the PMD thread runs on the second and everything else
on the first. A network function in its own process next to the PMD thread is not the default there:
it reached a sixth of its rate as a task of the generator's process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wirespeed.model.cpuset import format_list
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts


@dataclass(frozen=True, slots=True)
class Demand:
    """Threads that need a CPU to poll on."""

    directions: int
    vnfs: int
    """Threads of network functions."""
    sut: int
    """Threads of the SUT itself: PMD threads, or a forwarder."""
    own_process: bool | None
    """Network functions must (True), may (None) or must not (False) run in processes of their own.
    """
    pinned_sut: tuple[int, ...] | None = None
    """CPUs that the user chose for the SUT."""
    node: int | None = None
    partner: bool = False
    """A switch that is not the SUT polls, too."""


@dataclass(frozen=True, slots=True)
class BenchCpus:
    """CPUs of a bench's pollers."""

    control: int
    generator: tuple[int, ...]
    vnfs: tuple[int, ...]
    """The requested number of CPUs, or none if functions share the generator's."""
    sut: tuple[int, ...]
    node: int
    why_generator: str
    why_vnfs: str
    why_sut: str
    partner: tuple[int, ...] = ()
    """A CPU of its own, or one shared with the SUT; empty without a partner."""
    why_partner: str = ""


@dataclass(frozen=True, slots=True)
class _Shape:
    """A distribution of pollers over cores."""

    generator: int
    """Cores of the generator."""
    vnfs_apart: bool
    control_apart: bool
    partner_apart: bool

    def cores(self, demand: Demand) -> int:
        apart = self.control_apart + self.partner_apart
        return self.generator + self.vnfs_apart * demand.vnfs + apart


def place(facts: HostFacts, demand: Demand) -> BenchCpus:
    """Assign a CPU to each poller. Raises BadInput if the host has too few."""
    pinned = demand.pinned_sut or ()
    _check_pinned(facts, pinned)
    node = _node(facts, demand)
    wanted_sut = 0 if pinned else demand.sut
    for shape, free in _ways(facts, demand, node):
        if shape.cores(demand) + wanted_sut <= len(free):
            return _assign(demand, shape, free, node)
    usable = [c.id for c in facts.cpus if c.online and c.allowed]
    apart = f" apart from the PMD CPUs {format_list(pinned)}" if pinned else ""
    raise BadInput(
        f"host {facts.host} has {len(usable) - len(pinned)} usable CPUs{apart}; the generator "
        f"and the SUT poll without pause and need {1 + wanted_sut}",
        'Use a host with more CPUs, or topology.kind = "wire", which runs on one.',
    )


def _ways(facts: HostFacts, demand: Demand, node: int) -> Iterator[tuple[_Shape, Sequence[int]]]:
    """Yield the shapes, from the widest to the most crowded, each with the usable CPUs.

    A core of another node is preferred to a core shared with a network function. A shared core is
    preferred to two SMT threads of one core, unless there is only one core.
    """
    for partner_apart in [True, False] if demand.partner else [False]:
        yield from _ways_with(facts, demand, node, partner_apart)


def _ways_with(
    facts: HostFacts, demand: Demand, node: int, partner_apart: bool
) -> Iterator[tuple[_Shape, Sequence[int]]]:
    local, everywhere = _cores(facts, demand, node), _cores(facts, demand, None)
    may_be_apart = demand.own_process is not False and demand.vnfs > 0
    for apart in [True, False] if may_be_apart else [False]:
        for free in (local, everywhere):
            for generator in (2 * demand.directions, demand.directions, 1):
                yield _Shape(generator, apart, True, partner_apart), free
    crowded = _Shape(1, False, False, partner_apart)
    yield crowded, local
    yield crowded, everywhere
    if not partner_apart:
        yield crowded, [c for c in _threads(facts) if c not in (demand.pinned_sut or ())]


def _assign(demand: Demand, shape: _Shape, free: Sequence[int], node: int) -> BenchCpus:
    cpus = list(free)
    control = cpus.pop(0) if shape.control_apart else cpus[0]
    generator = tuple(cpus.pop(0) for _ in range(shape.generator))
    vnfs = tuple(cpus.pop(0) for _ in range(demand.vnfs)) if shape.vnfs_apart else ()
    own_partner = (cpus.pop(),) if shape.partner_apart else ()
    if demand.pinned_sut is not None:
        sut, why_sut = demand.pinned_sut, "chosen in sut.vswitch.pmd_cpus"
    else:
        sut = tuple(cpus[: demand.sut])
        why_sut = f"the SUT polls on a dedicated core of NUMA node {node}"
    why_vnfs = "each network function polls on a dedicated core"
    if demand.vnfs and not vnfs:
        if demand.own_process and sut:
            vnfs = _in_turn(sut, demand.vnfs)
            why_vnfs = (
                "a dedicated CPU was requested and no core is left: it takes turns with the "
                "SUT, which costs much more than a dedicated core gains"
            )
        elif demand.own_process:
            vnfs = _in_turn(cpus or generator, demand.vnfs)
            why_vnfs = f"more network functions than cores: they share {len(set(vnfs))}"
        else:
            why_vnfs = (
                "no core is left for network functions: they are tasks of the generator's process, "
                "which on two cores reaches six times the rate of a process next to the PMD thread"
            )
    partner = own_partner or (sut[-1:] if demand.partner else ())
    why_partner = (
        "it polls on a dedicated core"
        if own_partner
        else ("no core is left for it: it takes turns with the SUT, at the cost of both")
    )
    return BenchCpus(control, generator, vnfs, sut, node, _why_generator(demand, shape), why_vnfs,
                     why_sut, partner, why_partner)  # fmt: skip


def _in_turn(cpus: Sequence[int], count: int) -> tuple[int, ...]:
    """Return `count` CPUs, starting over if there are fewer."""
    return tuple(cpus[i % len(cpus)] for i in range(count))


def _why_generator(demand: Demand, shape: _Shape) -> str:
    if shape.generator == 2 * demand.directions:
        return "every sender and every receiver polls on a dedicated core"
    if shape.generator == demand.directions:
        return "one core for each direction's sender and receiver: no more cores"
    return "all senders and receivers share one core: no more cores"


def _node(facts: HostFacts, demand: Demand) -> int:
    """Return the requested NUMA node, that of the chosen CPUs, or the one with the most cores."""
    if demand.node is not None:
        return demand.node
    if demand.pinned_sut:
        return facts.node_of(demand.pinned_sut[0]) or 0
    cores = {n.id: len(_cores(facts, demand, n.id)) for n in facts.nodes}
    return max(cores, key=lambda n: (cores[n], -n), default=0)


def _cores(facts: HostFacts, demand: Demand, node: int | None) -> list[int]:
    """Return one CPU of each physical core of the node (None: of all) without a chosen CPU."""
    taken = {s for cpu in demand.pinned_sut or () for s in facts.siblings(cpu)}
    cores: dict[tuple[int, ...], int] = {}
    for cpu in _threads(facts):
        if cpu not in taken and (node is None or facts.node_of(cpu) == node):
            cores.setdefault(facts.siblings(cpu), cpu)
    return list(cores.values())


def physical_cores(facts: HostFacts) -> int:
    """Return the number of physical cores with a usable CPU."""
    return len({facts.siblings(cpu) for cpu in _threads(facts)})


def nodes_of(facts: HostFacts, cpus: Sequence[int]) -> set[int]:
    """Return the NUMA nodes of the CPUs."""
    return {facts.node_of(cpu) or 0 for cpu in cpus}


def dpdk_nodes(facts: HostFacts, chosen: BenchCpus) -> set[int]:
    """Return the NUMA nodes where a DPDK process allocates in addition to those it polls on.

    These are the node of its main lcore (ethdev's own data) and that of its NIC (the driver's
    data). Without memory of its own there the process takes pages assigned to others.
    """
    return nodes_of(facts, (chosen.control,)) | {chosen.node}


def _threads(facts: HostFacts) -> list[int]:
    return [c.id for c in facts.cpus if c.online and c.allowed]


def _check_pinned(facts: HostFacts, cpus: tuple[int, ...]) -> None:
    online = format_list(c.id for c in facts.cpus if c.online and c.allowed)
    for cpu_id in cpus:
        cpu = facts.cpu(cpu_id)
        if cpu is None or not cpu.online:
            what = "does not exist" if cpu is None else "is offline"
        elif not cpu.allowed:
            what = "is not among the CPUs this process may use"
        else:
            continue
        raise BadInput(
            f"sut.vswitch.pmd_cpus: CPU {cpu_id} {what} on host {facts.host}",
            f"Choose from {online}.",
        )
    twice = sorted({c for c in cpus if cpus.count(c) > 1})
    if twice:
        raise BadInput(
            f"sut.vswitch.pmd_cpus: CPU {twice[0]} is named twice",
            "Name each CPU once: two PMD threads on one CPU would only interrupt each other.",
        )
