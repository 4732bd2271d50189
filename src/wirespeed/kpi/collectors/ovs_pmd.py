# SPDX-License-Identifier: Apache-2.0
"""Collect what Open vSwitch's PMD threads did, their rxqs, and the datapath's drops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.kpi.collectors.ovs import Ask, ovs_sources
from wirespeed.kpi.interface import CYCLES, NUMBER, PACKETS, PERCENT, Missing, Name, Source, gauge
from wirespeed.kpi.interface import counter as counting
from wirespeed.remote.interface import Runner
from wirespeed.sources.coverage import totals
from wirespeed.sources.pmd_rxq import parse_pmd_rxq_show
from wirespeed.sources.pmd_stats import counters_by_core

_STATS, _RXQ = "dpif-netdev/pmd-stats-show", "dpif-netdev/pmd-rxq-show"
_COVERAGE = "coverage/show"
_PMD = "switch numa cpu"
# Counter of pmd-stats-show, and its key.
_KEYS = {
    "processing cycles": "pmd_busy_cycles",
    "idle cycles": "pmd_idle_cycles",
    "packets received": "pmd_rx_packets",
    "packet recirculations": "pmd_recirculated_packets",
    "phwol hits": "pmd_phwol_hits",
    "mfex opt hits": "pmd_mfex_opt_hits",
    "simple match hits": "pmd_simple_match_hits",
    "emc hits": "pmd_emc_hits",
    "smc hits": "pmd_smc_hits",
    "megaflow hits": "pmd_megaflow_hits",
    "miss with success upcall": "pmd_upcalls",
    "miss with failed upcall": "pmd_lost_upcalls",
}
_ALIAS = {"pmd_upcalls": "ovs_pmd_total_upcalls"}
# Two keys of ours that dataplane-node-exporter does not have: it reads iterations instead.
_OWN = ("pmd_busy_cycles", "pmd_idle_cycles", "pmd_recirculated_packets")
_DROPS = ("datapath_drop_", "drop_action_")


class OvsPmdCollector:
    name = "ovs-pmd"
    cheap = False
    metrics = (
        *(
            counting(key, CYCLES if "cycles" in key else PACKETS, _PMD,
                     f"PMD thread: {printed}", _STATS,
                     alias="" if key in _OWN else _ALIAS.get(key, f"ovs_{key}"))
            for printed, key in _KEYS.items()
        ),
        gauge("pmd_rxq_usage_ratio", PERCENT, f"{_PMD} interface rxq",
              "Share of a PMD thread's cycles that a receive queue took in the last minute", _RXQ,
              alias="ovs_pmd_rxq_usage"),
        counting("datapath_dropped_packets", PACKETS, "switch cause",
                 "Packets that the datapath dropped", _COVERAGE,
                 term="Virtual switch drops, counted", alias="ovs_coverage_{cause}_total"),
        counting("datapath_flows_deleted", NUMBER, "switch", "Datapath flows deleted", _COVERAGE),
    )  # fmt: skip

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        return ovs_sources(self.name, runner, read)


def read(switch: str, ask: Ask) -> Mapping[Name, int]:
    """Return the series of one daemon."""
    found: dict[Name, int] = {}
    for cpu, thread in counters_by_core(ask(_STATS)).items():
        labels = (switch, str(thread.node), str(cpu))
        for printed, count in thread.counts.items():
            if printed in _KEYS:
                found[_KEYS[printed], labels] = count
    for pmd in parse_pmd_rxq_show(ask(_RXQ)):
        labels = (switch, str(pmd.node), str(pmd.core))
        for rxq in pmd.rxqs:
            if rxq.usage_percent is not None:
                name = "pmd_rxq_usage_ratio", (*labels, rxq.port, str(rxq.queue))
                found[name] = rxq.usage_percent
    for cause, count in totals(ask(_COVERAGE)).items():
        if cause.startswith(_DROPS):
            found["datapath_dropped_packets", (switch, cause)] = count
        elif cause == "dpif_flow_del":
            found["datapath_flows_deleted", (switch,)] = count
    return found
