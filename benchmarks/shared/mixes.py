# SPDX-License-Identifier: Apache-2.0
"""Make random pools of servers, and telco guests whose demand is near the pool's capacity."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from wirespeed.model.plan.policy import (
    CpuPolicy,
    EmulatorPolicy,
    InterfaceKind,
    NicUse,
    PciNumaPolicy,
    ThreadPolicy,
)
from wirespeed.model.plan.workload import Nic, ProviderNetwork, Vnf, VnfPort, Workload
from wirespeed.plan.nova.guests import guest_request
from wirespeed.plan.placement.batch import PlacementHost, Unit
from wirespeed.plan.placement.host import CellShape, HostShape, PoolShape, empty_use
from wirespeed.plan.placement.request import GuestRequest

GIB_KIB = 1048576
NETWORKS = ("left", "right")


@dataclass(frozen=True, slots=True)
class Mix:
    """A pool and its demand.

    vnfs holds, for each kind of unit, the VNF and the request of its guests.
    """

    hosts: list[PlacementHost]
    units: list[Unit]
    vnfs: dict[int, tuple[Vnf, GuestRequest]]
    workload: Workload


def random_mix(random: Random) -> Mix:
    """Return 3 to 12 hosts of up to three models, and 3 to 7 VNFs for 80 to 130 % of their CPUs."""
    models = [_model(random, number) for number in range(random.randint(1, 3))]
    hosts = []
    for number in range(random.randint(3, 12)):
        shape, devices = random.choice(models)
        hosts.append(PlacementHost(f"host{number}", shape, empty_use(shape, devices)))
    cpus = sum(c.pinning.bit_count() for h in hosts for c in h.shape.cells)
    workload, vnfs = _vnfs(random)
    target = cpus * random.uniform(0.8, 1.3)
    listed: list[int] = []
    used = 0
    while used < target:
        kind = random.randrange(len(vnfs))
        burst = random.randint(1, 4)  # deployments come in bursts of one VNF
        listed += [kind] * burst
        used += burst * max(1, vnfs[kind][1].pinned_count)
    units = [Unit(kind, (number,), (vnfs[kind][1],)) for number, kind in enumerate(listed)]
    return Mix(hosts, units, vnfs, workload)


def _model(random: Random, number: int) -> tuple[HostShape, tuple[int, ...]]:
    """Return two nodes of 6 to 18 cores, SMT or not, 1 GiB pages, VFs on one or both nodes."""
    cores, threads = random.choice((6, 8, 10, 14, 18)), random.choice((1, 2, 2))
    offset = 2 * cores
    pages = random.choice((24, 48, 90))
    cells = []
    for node in (0, 1):
        masks = tuple(
            sum(1 << (2 * core + node + t * offset) for t in range(threads))
            for core in range(cores)
        )
        floating = masks[0] | masks[1]
        sizes, totals = (4, GIB_KIB), (8 * GIB_KIB // 4, pages)
        memory = 8 * 1024 + pages * 1024
        cells.append(CellShape(node, floating, sum(masks[2:]), masks, memory, sizes, totals, node))
    pools, counts = [], []
    for index in range(random.choice((0, 1, 2, 2))):
        keys = {("vendor_id", "8086"), ("product_id", "154c"), ("dev_type", "type-VF"),
                ("physical_network", NETWORKS[index % 2])}  # fmt: skip
        address = f"0000:{number}{index}:00.0"
        pools.append(PoolShape(address, random.randrange(2), frozenset(keys)))
        counts.append(random.choice((4, 8, 16)))
    return HostShape(tuple(cells), tuple(pools)), tuple(counts)


def _vnfs(random: Random) -> tuple[Workload, dict[int, tuple[Vnf, GuestRequest]]]:
    networks = tuple(ProviderNetwork(name, name) for name in NETWORKS)
    nics = tuple(Nic(name, NicUse.SRIOV, ("pf",)) for name in NETWORKS)
    made = [_vnf(random, number) for number in range(random.randint(3, 7))]
    workload = Workload("mix", tuple(made), networks=networks, nics=nics)
    kinds = {port.name: InterfaceKind.SRIOV for vnf in made for port in vnf.ports}
    return workload, {
        number: (vnf, guest_request(vnf, workload, kinds)) for number, vnf in enumerate(made)
    }


def _vnf(random: Random, number: int) -> Vnf:
    nodes = random.choice((None, None, None, None, 2))
    vcpus = random.choice((2, 3, 4, 6, 8, 12, 16))
    vcpus += vcpus % 2 if nodes else 0
    threads = random.choice((None, None, ThreadPolicy.PREFER, ThreadPolicy.REQUIRE))
    names = random.sample(("eth0", "eth1"), random.choice((0, 0, 1, 2)))
    return Vnf(
        name=f"vnf{number}", vcpus=vcpus, memory_mib=1024 * 2 * random.choice((1, 2, 4, 6)),
        page_size="large", cpu_policy=CpuPolicy.DEDICATED, thread_policy=threads,
        emulator_policy=random.choice((None, EmulatorPolicy.SHARE, EmulatorPolicy.ISOLATE)),
        numa_nodes=nodes,
        pci_numa_policy=random.choice((None, PciNumaPolicy.REQUIRED, PciNumaPolicy.PREFERRED)),
        ports=tuple(VnfPort(name, random.choice(NETWORKS)) for name in names),
    )  # fmt: skip
