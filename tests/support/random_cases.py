# SPDX-License-Identifier: Apache-2.0
"""Generate random hosts and guests, small enough that shortages are frequent."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from wirespeed.model.plan.host_rules import PlacementRules
from wirespeed.model.plan.policy import (
    CpuPolicy,
    EmulatorPolicy,
    InterfaceKind,
    NicUse,
    PciNumaPolicy,
    ThreadPolicy,
)
from wirespeed.model.plan.workload import (
    Device,
    Nic,
    PciAlias,
    ProviderNetwork,
    Vnf,
    VnfPort,
    Workload,
)
from wirespeed.plan.placement.host import CellShape, CellUse, HostShape, HostUse, PoolShape

SMALL, MEDIUM, LARGE = 4, 2048, 1048576
NETWORKS = ("left", "right")
ALIAS = PciAlias("qat", "8086", "0442", "type-PCI")


def random_host(random: Random) -> tuple[HostShape, HostUse]:
    """Return a host of 1 to 4 nodes with 1, 2 or (rarely) 4 threads a core, partly filled."""
    nodes = random.choice((1, 2, 2, 2, 3, 4))
    threads = random.choice((1, 2, 2, 2, 4) if random.random() < 0.2 else (1, 2))
    per_node = random.choice((2, 3, 4, 6, 8, 12))
    legacy = random.random() < 0.1
    pools = _pools(random, nodes)
    shape = HostShape(
        cells=tuple(
            _cell(random, n, nodes=nodes, per_node=per_node, threads=threads, legacy=legacy)
            for n in range(nodes)
        ),
        pools=tuple(pool for pool, _ in pools),
        network_nodes=_network_nodes(random, nodes),
        cpu_ratio=random.choice((1.0, 1.5, 4.0)),
        ram_ratio=random.choice((1.0, 1.0, 1.5)),
    )
    filled = random.random() < 0.4
    use = HostUse(
        cells=tuple(_use(random, cell, filled, legacy) for cell in shape.cells),
        devices_free=tuple(count for _, count in pools),
    )
    return shape, use


def _cell(
    random: Random, node: int, *, nodes: int, per_node: int, threads: int, legacy: bool
) -> CellShape:
    """Return a node with CPU numbers interleaved over nodes (S3) or siblings at an offset (S0)."""
    offset = per_node * nodes
    cores = []
    for index in range(per_node):
        first = index * nodes + node
        cores.append(sum(1 << (first + t * offset) for t in range(threads)))
    everything = sum(cores)
    if legacy:
        floating = pinning = everything
    else:
        kept = cores[: random.randint(0, max(0, per_node // 2))]
        floating = sum(kept)
        pinning = everything & ~floating
        if random.random() < 0.15:
            pinning &= random.getrandbits(pinning.bit_length() or 1)
    sizes = random.choice(
        ((SMALL,), (SMALL, MEDIUM), (SMALL, LARGE), (SMALL, MEDIUM, LARGE), (SMALL, MEDIUM, LARGE))
    )
    totals = []
    for size in sizes:
        mib = random.choice((0, 8192, 8192, 16384, 32768))
        totals.append(mib * 1024 // size)
    memory = sum(t * s for t, s in zip(totals, sizes, strict=True)) // 1024
    return CellShape(
        node, floating, pinning, tuple(cores), max(memory, 1), sizes, tuple(totals),
        socket=random.choice((node // 2, node // 2, None)),
    )  # fmt: skip


def _use(random: Random, cell: CellShape, filled: bool, legacy: bool) -> CellUse:
    if not filled:
        return CellUse(cell.pinning, 0, 0, cell.page_totals)
    free = cell.pinning
    if legacy:
        for core in cell.cores:
            if random.random() < 0.3:
                free &= ~core
    elif free:
        free &= random.getrandbits(free.bit_length()) | random.getrandbits(free.bit_length())
    pages = tuple(random.randint(0, total) if total else 0 for total in cell.page_totals)
    cpus_used = random.randint(0, 2 * cell.floating.bit_count())
    return CellUse(free, cpus_used, random.randint(0, cell.memory_mib), pages)


def _pools(random: Random, nodes: int) -> list[tuple[PoolShape, int]]:
    """Return device pools, then those of networks: Nova sorts pools by their number of keys."""
    made = []
    for index in range(random.choice((0, 0, 1, 2))):
        keys = {("vendor_id", "8086"), ("product_id", random.choice(("0442", "0443"))),
                ("dev_type", random.choice(("type-PCI", "type-PCI", "type-PF")))}  # fmt: skip
        made.append(_pool(random, f"0000:1{index}:00.0", nodes, keys))
    for index in range(random.choice((0, 1, 2, 3, 4))):
        keys = {("vendor_id", "8086"), ("product_id", "154c"), ("dev_type", "type-VF"),
                ("physical_network", random.choice(NETWORKS))}  # fmt: skip
        made.append(_pool(random, f"0000:2{index}:00.0", nodes, keys))
    return made


def _pool(
    random: Random, address: str, nodes: int, keys: set[tuple[str, str]]
) -> tuple[PoolShape, int]:
    node = random.choice((*range(nodes), None))
    is_pf = ("dev_type", "type-PF") in keys
    return PoolShape(address, node, frozenset(keys), is_pf), random.randint(1, 4)


def _network_nodes(random: Random, nodes: int) -> tuple[tuple[str, frozenset[int]], ...]:
    if random.random() < 0.7:
        return ()
    return tuple((name, frozenset({random.randrange(nodes)})) for name in NETWORKS)


def random_guest(random: Random) -> tuple[Vnf, Workload, dict[str, InterfaceKind]]:
    """Return a VNF with a NUMA topology in Nova, its workload and its ports' kinds."""
    nodes = random.choice((None, None, None, None, 1, 1, 2, 2, 3))
    each = random.choice((1, 1, 2, 2, 3, 4))
    vcpus = each * (nodes or 1)
    mib_each = random.choice((512, 1000, 1024, 1024, 2048, 2048, 4096))
    policy = random.choice((*CpuPolicy, CpuPolicy.DEDICATED, CpuPolicy.DEDICATED, None))
    mask: tuple[int, ...] = ()
    if policy is CpuPolicy.MIXED:
        if vcpus < 2:
            policy = CpuPolicy.DEDICATED
        else:
            mask = tuple(sorted(random.sample(range(vcpus), random.randint(1, vcpus - 1))))
    pinned = policy in (CpuPolicy.DEDICATED, CpuPolicy.MIXED)
    page = random.choice(
        (None,) * 6 + ("small", "large", "large", "any", "any", "2048", "1048576", "2097152")
    )
    if page is None and not pinned and nodes is None:
        nodes = 1
    threads = (ThreadPolicy.PREFER, ThreadPolicy.REQUIRE, ThreadPolicy.ISOLATE, None, None)
    ports, kinds = _ports(random)
    vnf = Vnf(
        name="guest", vcpus=vcpus, memory_mib=mib_each * (nodes or 1), page_size=page,
        cpu_policy=policy, dedicated_cpus=mask, numa_nodes=nodes,
        thread_policy=random.choice(threads) if pinned else None,
        emulator_policy=random.choice((None, *EmulatorPolicy)) if pinned else None,
        pci_numa_policy=random.choice((None, *PciNumaPolicy)),
        devices=(Device("qat", random.randint(1, 2)),) if random.random() < 0.12 else (),
        ports=ports,
    )  # fmt: skip
    vnf = _uneven(random, vnf) if nodes and nodes > 1 and random.random() < 0.3 else vnf
    networks = tuple(ProviderNetwork(name, name) for name in NETWORKS)
    nics = tuple(Nic(name, NicUse.DPDK, ("eth",)) for name in NETWORKS)
    placement = PlacementRules(nova_release=random.choice([33, 34]))
    workload = Workload(
        "random", (vnf,), networks=networks, nics=nics, aliases=(ALIAS,), placement=placement
    )
    return vnf, workload, kinds


def _ports(random: Random) -> tuple[tuple[VnfPort, ...], dict[str, InterfaceKind]]:
    choices = (InterfaceKind.VHOST, InterfaceKind.SRIOV, InterfaceKind.MACVTAP)
    ports, kinds = [], {}
    for index in range(random.choice((0, 0, 0, 1, 2))):
        name = f"eth{index}"
        ports.append(VnfPort(name, random.choice(NETWORKS)))
        kinds[name] = random.choice(choices)
    return tuple(ports), kinds


def _uneven(random: Random, vnf: Vnf) -> Vnf:
    """Return the VNF with explicit numa_cpus and numa_mem instead of an even split."""
    nodes = vnf.numa_nodes or 1
    order = list(range(vnf.vcpus))
    random.shuffle(order)
    cuts = sorted(random.sample(range(1, vnf.vcpus), nodes - 1)) if vnf.vcpus > nodes else None
    if cuts is None:
        return vnf
    parts = [order[a:b] for a, b in zip((0, *cuts), (*cuts, vnf.vcpus), strict=True)]
    memory = [vnf.memory_mib // nodes] * nodes
    memory[0] += vnf.memory_mib - sum(memory)
    return replace(
        vnf,
        numa_cpus=tuple(tuple(sorted(part)) for part in parts),
        numa_memory_mib=tuple(memory),
    )
