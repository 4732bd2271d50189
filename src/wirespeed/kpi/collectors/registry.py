# SPDX-License-Identifier: Apache-2.0
"""List the collectors, and find them by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches

from wirespeed.kpi.collectors.cpu import CpuCollector
from wirespeed.kpi.collectors.dpdk import DpdkCollector
from wirespeed.kpi.collectors.dpdk_xstats import XstatsCollector
from wirespeed.kpi.collectors.guests import GuestCollector
from wirespeed.kpi.collectors.interfaces import InterfaceCollector
from wirespeed.kpi.collectors.interrupts import InterruptCollector
from wirespeed.kpi.collectors.memory import MemoryCollector
from wirespeed.kpi.collectors.ovs_pmd import OvsPmdCollector
from wirespeed.kpi.collectors.ovs_ports import OvsPortCollector
from wirespeed.kpi.collectors.own import OwnCollector
from wirespeed.kpi.collectors.pcie import PcieCollector
from wirespeed.kpi.collectors.speedtest_server import SpeedtestCollector
from wirespeed.kpi.collectors.sriov import SriovCollector
from wirespeed.kpi.collectors.tcp import TcpCollector
from wirespeed.kpi.collectors.threads import ThreadCollector
from wirespeed.kpi.collectors.wsdp import WsdpCollector
from wirespeed.kpi.interface import Collector, Metric
from wirespeed.model.errors import BadInput

_KINDS: tuple[Callable[[], Collector], ...] = (
    CpuCollector, ThreadCollector, InterruptCollector, MemoryCollector, InterfaceCollector,
    SriovCollector, PcieCollector, OvsPmdCollector, OvsPortCollector, WsdpCollector, DpdkCollector,
    XstatsCollector, GuestCollector, TcpCollector, SpeedtestCollector, OwnCollector,
)  # fmt: skip


def collectors(names: Iterable[str] = ()) -> tuple[Collector, ...]:
    """Return new collectors of these names, all by default. Raises BadInput."""
    made = {each.name: each for each in (kind() for kind in _KINDS)}
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in made:
            near = get_close_matches(name, made, 1)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(made)}."
            raise BadInput(f"collector {name!r}: unknown", hint)
    return tuple(made[name] for name in wanted or made)


def metrics() -> dict[str, Metric]:
    """Return every metric by its key. Two collectors may count the same."""
    return {metric.key: metric for each in collectors() for metric in each.metrics}
