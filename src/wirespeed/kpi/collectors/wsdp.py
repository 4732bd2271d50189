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
    return found
