# SPDX-License-Identifier: Apache-2.0
"""Compute the number of PMD cores that the demanded frame rates need.

Each pass of a frame through Open vSwitch costs cycles: a fixed part, and a part for each octet that
vhost copies. The default costs follow from S2's tables (see S2_CYCLES); those of a measured run
replace them. SMT siblings count as one core: in S0's scenarios 1 and 3 a pair of siblings was the
slowest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.switch_cost import CycleModel, PassCost
from wirespeed.model.input.bounded import load_json
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.host_rules import CoreRules
from wirespeed.model.plan.plan import Decision, NodeCores
from wirespeed.model.plan.policy import InterfaceKind, Pattern
from wirespeed.model.plan.workload import VnfPort, Workload
from wirespeed.plan.errors import FileFaults, PlanError
from wirespeed.plan.host.nics import HostNic

CYCLES_SCHEMA = "wirespeed-cycles/1"

# Used if neither the CPU's name nor the workload gives the clock. Slower than any CPU here.
ASSUMED_HZ = 2.0e9


# S2 (E5-2699 v4 at 2.2 GHz, Open vSwitch 2.6.90, DPDK 16.11), section 5.1. phy_vhost at 64 B: one
# PMD thread read the NIC, and two guests received 14.30 Mpps: 2.2e9 / 14.30e6 = 154. vhost_vhost:
# eight guests in a chain sent 41.46 Mpps of 64 B and 17.73 of 1518 B. S2 does not give the number
# of PMD threads; one per guest is assumed: 2.2e9 * 8 / 41.46e6 = 425, and (993 - 425) / 1454 = 0.39
# per octet. That is for two copies; a pass to or from a NIC copies once.
S2_CYCLES = CycleModel(
    PassCost(154.0, 0.2), PassCost(425.0, 0.39), "S2 section 5.1, scaled by clock"
)


def port_hz(port: VnfPort, kind: InterfaceKind, model: CycleModel) -> float:
    """Return the cycles/s that a port costs the PMD threads.

    Every frame from outside is assumed to leave again. An east-west frame is counted where it
    arrives. VFs cost the PMD threads nothing (S2 section 4).
    """
    if kind is not InterfaceKind.VHOST:
        return 0.0
    if port.pattern is Pattern.EAST_WEST:
        return port.rate_fps * model.vhost_vhost.cycles(port.frame_bytes)
    return port.rate_fps * 2 * model.phy_vhost.cycles(port.frame_bytes)


def pmd_cores(demand_hz: float, hz: float, load: float) -> int:
    """Return the physical cores for a demand in cycles/s, at least one.

    load: largest utilisation of a core, 0 to 1.
    """
    return max(1, math.ceil(demand_hz / (hz * load) - 1e-9))


@dataclass(frozen=True, slots=True)
class SwitchDemand:
    """Cycles/s that one host's vSwitch needs for its ports."""

    by_network: Mapping[str, float] = field(default_factory=dict)
    """Demand by physical network."""
    internal: float = 0.0
    """Demand of networks without a NIC."""
    internal_needed: bool = False
    """Some ports belong to networks without a NIC."""
    source: str = ""
    """Source of the cycles of a frame."""


def cores_by_node(
    layout: Sequence[NodeCores],
    nics: Sequence[HostNic],
    workload: Workload,
    demand: SwitchDemand,
    *,
    hz: float,
    more: int,
) -> dict[int, Decision[int]]:
    """Return the physical PMD cores of each node.

    They are cores.pmd_cores, or follow from the demand on the networks of the node's NICs. PMD
    threads never get a node's last core: guests need it.
    """
    nodes = [node.node for node in layout]
    given = workload.cores.pmd_cores
    if given is not None:
        return {node: Decision(given.get(node, 0), "cores.pmd_cores") for node in nodes}
    load = workload.vswitch.pmd_load
    polled = sorted({nic.device.node for nic in nics if nic.device.node is not None}) or nodes[:1]
    wanted: dict[int, Decision[int]] = {}
    for node in nodes:
        if node not in polled:
            idle = workload.cores.pmd_on_nodes_without_nics
            wanted[node] = Decision(idle, "no DPDK NIC here, for guests' vhost ports (Red Hat)")
            continue
        share = demand.internal / len(polled)
        for network, total in demand.by_network.items():
            sides = [nic.device.node for nic in nics if nic.physical_network == network]
            share += total * sides.count(node) / len(sides) if sides else 0.0
        count = pmd_cores(share, hz, load) + more
        why = f"{share / 1e9:.2f} Gcycles/s demanded / ({hz / 1e9:.2f} GHz x {load:.0%})"
        why += f", cycles of a frame: {demand.source}" if demand.source else ""
        why += f" + {more} so that more guests fit" if more else ""
        most = _most_cores(layout, node, workload.cores)
        if count > most:
            why += f" = {count}, of which the node can give {most}"
        wanted[node] = Decision(min(count, most), why)
    return wanted


def _most_cores(layout: Sequence[NodeCores], node: int, rules: CoreRules) -> int:
    """Return a node's physical cores that PMD threads may get, which excludes one for guests."""
    idle = set(rules.idle_cpus)
    cores = sum(1 for n in layout if n.node == node for core in n.cores if not idle & set(core))
    kept = rules.housekeeping_cores + rules.shared_cores + rules.vswitchd_own_core + 1
    return max(1, cores - kept)


def clock_hz(facts: HostFacts, given: float | None) -> Decision[float]:
    """Return the clock of a PMD core: as given, or the base clock in the CPU's name."""
    if given:
        return Decision(given, "vswitch.pmd_hz of the workload")
    found = re.search(r"@\s*([0-9.]+)\s*GHz", facts.cpu_model)
    if found:
        return Decision(float(found[1]) * 1e9, f"base clock of {facts.cpu_model.strip()!r}")
    name = facts.cpu_model.strip() or "the CPU"
    return Decision(ASSUMED_HZ, f"{name} names no clock; 2.0 GHz assumed (set vswitch.pmd_hz)")


def parse_cycles(text: str, source: str) -> CycleModel:
    """Return the costs in a measured run's JSON. Raises FileFaults with all errors."""
    try:
        raw = load_json(text)
    except ValueError as error:
        raise PlanError(f"{source}: not JSON: {error}", _CYCLES_HELP) from error
    faults: list[Fault] = []
    if not isinstance(raw, dict) or raw.get("schema") != CYCLES_SCHEMA:
        found = raw.get("schema") if isinstance(raw, dict) else raw
        raise FileFaults(
            source, [Fault("schema", found, f"must be {CYCLES_SCHEMA!r}")], _CYCLES_HELP
        )
    for key in sorted(set(raw) - {"schema", "source", "phy_vhost", "vhost_vhost"}):
        faults.append(Fault(key, raw[key], "unknown key"))
    phy = _parse_cost(raw, "phy_vhost", faults)
    vhost = _parse_cost(raw, "vhost_vhost", faults)
    if not isinstance(raw.get("source"), str):
        faults.append(Fault("source", raw.get("source"), "must say where it was measured"))
    if faults:
        raise FileFaults(source, faults, _CYCLES_HELP)
    return CycleModel(phy, vhost, raw["source"])


_CYCLES_HELP = "docs/reference/derived-values.md describes the file, under PMD cores."


def _parse_cost(raw: dict[str, object], key: str, faults: list[Fault]) -> PassCost:
    table = raw.get(key)
    if not isinstance(table, dict) or set(table) != {"at_64", "per_byte"}:
        faults.append(Fault(key, table, "must be a table with at_64 and per_byte, in cycles"))
        return PassCost(1.0, 0.0)
    values = []
    for name, least in (("at_64", 1.0), ("per_byte", 0.0)):
        value = table[name]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or value < least:
            faults.append(Fault(f"{key}.{name}", value, f"must be a number from {least:g}"))
            value = least
        values.append(float(value))
    return PassCost(*values)
