# SPDX-License-Identifier: Apache-2.0
"""Plans for the real OpenStack: the examples, and random mixes on 8 hosts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.support.examples import EXAMPLES, empty, example_host, example_plan
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.host_rules import PlacementRules
from wirespeed.model.plan.plan import Plan
from wirespeed.model.plan.policy import (
    CpuPolicy,
    EmulatorPolicy,
    InterfaceKind,
    NetworkType,
    NicUse,
    PciNumaPolicy,
    ThreadPolicy,
)
from wirespeed.model.plan.workload import Nic, ProviderNetwork, Vnf, VnfPort, Workload
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.rules import broken_rules

SEED = 18
_NETWORKS = (
    ProviderNetwork("access", "physnet1", NetworkType.VLAN, 100, 9000, cidr="10.1.0.0/24"),
    ProviderNetwork("core", "physnet2", NetworkType.VLAN, 200, cidr="10.2.0.0/24"),
)
_NICS = (
    Nic("access", NicUse.DPDK, ("0000:5e:00.0", "0000:60:00.0"), ("compute-*",)),
    Nic("core", NicUse.SRIOV, ("0000:af:00.0",), ("compute-*",), vfs=8),
    Nic("core", NicUse.SRIOV, ("0000:08:00.0",), ("edge-*",), vfs=8),
)
# What Debian 12 has.
_ZED = PlacementRules(nova_release=26)


@dataclass(frozen=True, slots=True)
class Case:
    """A plan to create on OpenStack."""

    name: str
    make: Callable[[], tuple[Plan, Sequence[HostFacts]]]
    """Return the plan and the facts of its hosts."""


def examples() -> list[Case]:
    def case(name: str) -> Case:
        return Case(name, lambda: (example_plan(name), [example_host(name)]))

    return [case(name) for name in EXAMPLES]


def random_cases(seed: int, count: int) -> list[Case]:
    """Make random cases from a seed; a longer list begins with the shorter one."""

    def case(number: int) -> Case:
        return Case(f"seed {seed}.{number}", lambda: _random(Random(f"{seed}.{number}")))

    return [case(number) for number in range(1, count + 1)]


def _random(random: Random) -> tuple[Plan, Sequence[HostFacts]]:
    hosts = [empty("s3-r740xd", f"compute-{n}") for n in range(1, 7)]
    hosts += [empty("s1-dppd", f"edge-{n}") for n in (1, 2)]
    while True:
        vnfs = tuple(_vnf(random, f"vnf{n}") for n in range(1, random.randint(3, 5) + 1))
        workload = Workload("random", vnfs, networks=_NETWORKS, nics=_NICS, placement=_ZED)
        if not broken_rules(workload):
            plan = plan_workload(workload, hosts)
            if len(plan.order) >= len(vnfs):
                return plan, hosts


def _vnf(random: Random, name: str) -> Vnf:
    policy = random.choice([CpuPolicy.DEDICATED, CpuPolicy.DEDICATED, CpuPolicy.MIXED, None])
    vcpus = 2 * random.randint(1, 6)
    kinds = [InterfaceKind.AUTO, InterfaceKind.VHOST, InterfaceKind.SRIOV]
    ports = []
    for index in range(random.randint(0, 2)):
        kind = random.choice(kinds)
        network = "core" if kind is InterfaceKind.SRIOV else "access"
        ports.append(VnfPort(f"eth{index}", network, kind, random.choice([0.0, 1e5, 3e6]), 256))
    # vhost-user needs memory that the switch can map: huge pages.
    sizes = ["large", "1048576"] if ports else [None, "large", "any", "1048576"]
    return Vnf(
        name, vcpus, random.choice([2048, 4096, 8192]), random.randint(1, 2),
        page_size=random.choice(sizes), cpu_policy=policy,
        dedicated_cpus=tuple(range(1, vcpus)) if policy is CpuPolicy.MIXED else (),
        thread_policy=random.choice([None, ThreadPolicy.PREFER, ThreadPolicy.REQUIRE])
        if policy else None,
        emulator_policy=random.choice([None, *EmulatorPolicy]) if policy else None,
        numa_nodes=random.choice([None, None, 1, 2]),
        pci_numa_policy=random.choice([None, *PciNumaPolicy]),
        ports=tuple(ports),
    )  # fmt: skip
