# SPDX-License-Identifier: Apache-2.0
"""Collect the ports, queues, mempools and lcores of any DPDK program but wsdp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.kpi.collectors.dpdk_programs import WSDP, Programs
from wirespeed.kpi.interface import CYCLES, NUMBER, PACKETS, Missing, Name, Source, counter, gauge
from wirespeed.remote.interface import Runner
from wirespeed.sources.telemetry import Telemetry

_LIST, _STATS = "/ethdev/list", "/ethdev/stats"
_POOLS, _POOL = "/mempool/list", "/mempool/info"
_LCORES, _LCORE = "/eal/lcore/list", "/eal/lcore/usage"
_PORT = {
    "ipackets": "rx", "opackets": "tx", "imissed": "rx_missed", "ierrors": "rx_error",
    "oerrors": "tx_error", "rx_nombuf": "rx_no_buffer",
}  # fmt: skip
_QUEUES = {"q_ipackets": "rx", "q_opackets": "tx"}


class DpdkCollector:
    name = "dpdk"
    cheap = False
    metrics = (
        *(
            counter(f"ethdev_{key}_packets", PACKETS, "program port", f"Packets of a port: {key}",
                    _STATS)
            for key in _PORT.values()
        ),
        counter("ethdev_queue_packets", PACKETS, "program port queue direction",
                "Packets of a queue that was used", _STATS),
        gauge("mempool_size", NUMBER, "program mempool", "Buffers of a mempool", _POOL),
        gauge("mempool_free", NUMBER, "program mempool", "Free buffers of a mempool", _POOL),
        counter("eal_lcore_busy_cycles", CYCLES, "program lcore", "Busy cycles of an lcore",
                _LCORE),
        counter("eal_lcore_cycles", CYCLES, "program lcore", "Cycles of an lcore", _LCORE),
    )  # fmt: skip

    def __init__(self) -> None:
        self._programs = Programs(self.name, lambda name: name != WSDP, _LIST, read)

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        return self._programs.probe(runner)


def read(program: str, telemetry: Telemetry) -> Mapping[Name, int]:
    """Return the series of one program: only what its list of commands has."""
    commands = telemetry.ask("/")
    found: dict[Name, int] = {}
    if _STATS in commands:
        for port in telemetry.ask(_LIST):
            found |= _port(program, str(port), telemetry.ask(f"{_STATS},{port}"))
    if _POOL in commands:
        for pool in telemetry.ask(_POOLS):
            seen = telemetry.ask(f"{_POOL},{pool}")
            found["mempool_size", (program, pool)] = int(seen["size"])
            if "common_pool_count" in seen:  # DPDK 22.11 has no such count
                free = int(seen["common_pool_count"]) + int(seen.get("total_cache_count", 0))
                found["mempool_free", (program, pool)] = free
    if _LCORE in commands:  # from DPDK 23.03 on
        seen = telemetry.ask(_LCORE)
        each = zip(seen["lcore_ids"], seen["busy_cycles"], seen["total_cycles"], strict=True)
        for lcore, busy, total in each:
            found["eal_lcore_busy_cycles", (program, str(lcore))] = int(busy)
            found["eal_lcore_cycles", (program, str(lcore))] = int(total)
    return found


def _port(program: str, port: str, seen: Mapping[str, object]) -> Mapping[Name, int]:
    found: dict[Name, int] = {
        (f"ethdev_{key}_packets", (program, port)): int(str(seen[printed]))
        for printed, key in _PORT.items()
    }
    for printed, direction in _QUEUES.items():
        counts = seen.get(printed)
        for queue, count in enumerate(counts if isinstance(counts, list) else ()):
            if count:
                labels = (program, port, str(queue), direction)
                found["ethdev_queue_packets", labels] = int(count)
    return found
