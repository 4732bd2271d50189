# SPDX-License-Identifier: Apache-2.0
"""Collect what wsdp's tasks, lcores, ports and rings count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.kpi.collectors.dpdk_programs import WSDP, Programs
from wirespeed.kpi.interface import NS, NUMBER, PACKETS, Missing, Name, Source, counter, gauge
from wirespeed.remote.interface import Runner
from wirespeed.sources.telemetry import Telemetry

_STATS, _LCORES = "/wirespeed/stats", "/wirespeed/lcores"
_PORTS = "/wirespeed/ports"
_RINGS = "/wirespeed/rings"
_INFO, _ONE_TASK = "/wirespeed/info", "/wirespeed/task"
_SINK = "sink"
# Statistic of a sink's latencies in its counters, and label.
_LATENCY = {f"latency_{word}_ns": word for word in ("min", "avg", "p50", "p99", "p999", "max")}
_TASK = {"rx": "rx", "tx": "tx", "tx_fail": "tx_fail", "discard": "discard", "handled": "handled"}
_PORT = {
    "ipackets": "rx", "opackets": "tx", "imissed": "rx_missed", "ierrors": "rx_error",
    "oerrors": "tx_error", "rx_nombuf": "rx_no_buffer",
}  # fmt: skip


class WsdpCollector:
    name = "wsdp"
    cheap = False
    metrics = (
        *(
            counter(f"task_{key}_packets", PACKETS, "program task", f"Packets of a task: {key}",
                    _STATS)
            for key in _TASK.values()
        ),
        counter("lcore_busy_seconds", NS, "program lcore", "Time of polls that found packets",
                _LCORES),
        counter("lcore_seconds", NS, "program lcore", "Time of all polls", _LCORES),
        counter("lcore_polls", NUMBER, "program lcore", "Polls", _LCORES),
        *(
            counter(f"device_{key}_packets", PACKETS, "program port", f"Packets of a port: {key}",
                    _PORTS)
            for key in _PORT.values()
        ),
        gauge("task_latency_seconds", NS, "program task statistic",
              "Latency of the frames that a sink received since its trial began", _ONE_TASK),
        gauge("ring_size", NUMBER, "program ring", "Places of a ring", _RINGS),
        gauge("ring_used", NUMBER, "program ring", "Packets in a ring", _RINGS),
    )  # fmt: skip

    def __init__(self) -> None:
        self._programs = Programs(self.name, lambda name: name == WSDP, _STATS, read)

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        return self._programs.probe(runner)


def read(program: str, telemetry: Telemetry) -> Mapping[Name, int]:
    """Return the series of one program."""
    found: dict[Name, int] = {}
    for task, seen in telemetry.ask(_STATS).items():
        for printed, key in _TASK.items():
            found[f"task_{key}_packets", (program, task)] = int(seen[printed])
    for lcore, seen in telemetry.ask(_LCORES).items():
        found["lcore_busy_seconds", (program, lcore)] = int(seen["busy_ns"])
        found["lcore_seconds", (program, lcore)] = int(seen["total_ns"])
        found["lcore_polls", (program, lcore)] = int(seen["polls"])
    for port, seen in telemetry.ask(_PORTS).items():
        for printed, key in _PORT.items():
            found[f"device_{key}_packets", (program, port)] = int(seen[printed])
    for ring, seen in telemetry.ask(_RINGS).items():
        found["ring_size", (program, ring)] = int(seen["size"])
        found["ring_used", (program, ring)] = int(seen["used"])
    return found | _latencies(program, telemetry)


def _latencies(program: str, telemetry: Telemetry) -> dict[Name, int]:
    """Return the latencies of each sink; none before its first frame with a time stamp."""
    found: dict[Name, int] = {}
    for task, about in telemetry.ask(_INFO)["tasks"].items():
        if about["type"] != _SINK:
            continue
        seen = telemetry.ask(f"{_ONE_TASK},{task}")
        if int(seen["latency_count"]):
            for printed, statistic in _LATENCY.items():
                found["task_latency_seconds", (program, task, statistic)] = int(seen[printed])
    return found
