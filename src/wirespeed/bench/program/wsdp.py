# SPDX-License-Identifier: Apache-2.0
"""Find, start, await, query and stop a wsdp process."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.network import inside
from wirespeed.bench.host.process import Daemon, last_words
from wirespeed.bench.host.programs import Program, find_program
from wirespeed.bench.interface import BenchError, Busy, GapLog, Poller
from wirespeed.bench.noise.poll_gaps import read_gap_logs
from wirespeed.bench.program import dpdk
from wirespeed.bench.program.config import RING_DEVICES, WsdpConfig
from wirespeed.bench.program.port_info import port_infos, port_of_device, port_settings
from wirespeed.model.cpus import CpuPlacement
from wirespeed.remote.interface import Process
from wirespeed.sources.errors import NoAnswer
from wirespeed.sources.router_check import TableComparison, compare_tables_on
from wirespeed.sources.telemetry import Telemetry
from wirespeed.sources.unix_sockets import not_listening

WSDP = Program(
    "wsdp",
    Path(__file__).parents[4] / "build" / "dataplane" / "wsdp",
    made_by="make setup",
    packages="the Debian package wirespeed or the wheel wirespeed-native",
)
# A full table takes some seconds to compare, on a busy CPU several times as long.
_COMPARE_S = 120.0


def heap_bytes(telemetry: Telemetry) -> int:
    """Return the bytes in use of a DPDK program's heap. Raises NoAnswer."""
    heaps = telemetry.ask("/eal/heap_list")
    return sum(int(telemetry.ask(f"/eal/heap_info,{heap}")["Alloc_size"]) for heap in heaps)


class Wsdp:
    """One wsdp process."""

    def __init__(self, name: str, host: Host, dirs: Directories, config: WsdpConfig) -> None:
        self.name = name
        self.config = config
        self._host, self._dirs = host, dirs
        self._daemon = Daemon(name, host, dirs)
        self._ini = str(dirs.log / f"{name}.ini")
        self._socket = dpdk.telemetry_socket(dirs.run, config.file_prefix)
        self._telemetry: Telemetry | None = None

    def start(self) -> None:
        """Start it, now or once the sockets exist that it connects to."""
        self._host.runner.write(self._ini, self.config.render())
        self.waits_for()

    def waits_for(self) -> str | None:
        """Return None once ports are up and telemetry answers, else what it waits for."""
        runner = self._host.runner
        if not self.processes:
            if missing := self._missing_sockets():
                return f"the sockets {sorted(missing)}"
            program = find_program(runner, WSDP, self._host.wsdp)
            self._daemon.start(
                [*inside(self.config.namespace), program, "--config", self._ini],
                env=dpdk.environment(self._dirs.run),
                cpus={self.config.control_cpu, *self.config.cpus, *self.config.floats_over},
            )
        if self._telemetry is None:
            if "wsdp ready" not in runner.read(self._daemon.log):
                return f"its ports ({last_words(runner, self._daemon.log)})"
            try:
                self._telemetry = Telemetry(runner, self._socket)
            except (ConnectionError, FileNotFoundError):
                # It has ended since: `ended` reports that once the process is gone.
                return f"its telemetry ({last_words(runner, self._daemon.log)})"
        return None

    def _missing_sockets(self) -> set[str]:
        """Return the sockets that it connects to and that do not listen yet."""
        wanted = {p.connects_to for p in self.config.ports if p.connects_to is not None}
        there = set(self._host.runner.glob(*wanted))
        return wanted - there | not_listening(self._host.runner, there)

    def ask(self, command: str) -> Any:
        """Return the answer to a /wirespeed command, e.g. ask("stats").

        Raises BenchError, which says how the process ended if it did.
        """
        if self._telemetry is None:
            raise BenchError(f"{self.name} was asked for {command} before it was ready")
        try:
            return self._telemetry.ask(f"/wirespeed/{command}")
        except NoAnswer as fault:
            raise BenchError(self.ended() or str(fault)) from fault

    def export(self, command: str) -> str:
        """Return what a command writes to a file, because it would not fit into an answer."""
        path = str(self._dirs.run / f"{self.name}.export")
        self.ask(f"{command},{path}")
        return self._host.runner.read(path)

    @cached_property
    def tsc_hz(self) -> int:
        """TSC cycles per second."""
        return int(self.ask("info")["tsc_hz"])

    def ended(self) -> str | None:
        return self._daemon.ended()

    @property
    def processes(self) -> tuple[Process, ...]:
        return self._daemon.processes

    def pollers(self, role: str) -> tuple[Poller, ...]:
        """Return the lcores."""
        return tuple(
            Poller(seen["tid"], f"{self.name}/lcore{lcore}", role, timed=True)
            for lcore, seen in self.ask("lcores").items()
        )

    def gap_logs(self, role: str) -> tuple[GapLog, ...]:
        """Return the gaps in its lcores' polls since the last reset."""
        return read_gap_logs(self.export("gaps"), self.name, role)

    def busy(self) -> Mapping[int, Busy]:
        """Return the busy time of its lcores since the last reset, in ns."""
        return {
            seen["tid"]: Busy(seen["busy_ns"], seen["total_ns"])
            for seen in self.ask("lcores").values()
        }

    def compare_tables(self, task: str) -> TableComparison:
        """Compare a router's tables with the kernel's. Raises BenchError as `ask` does."""
        path = str(self._dirs.run / f"{self.name}.differences")
        runner = self._host.runner
        try:
            with closing(Telemetry(runner, self._socket, _COMPARE_S)) as telemetry:
                return compare_tables_on(runner, telemetry, task, path)
        except (NoAnswer, OSError) as fault:
            raise BenchError(self.ended() or str(fault)) from fault

    def missed(self) -> Mapping[str, int]:
        """Return the frames that its ports dropped since the last reset as nobody read them.

        By port. Rings in memory drop none: a sender finds them full.
        """
        if self._telemetry is None:
            return {}
        return {
            port: int(self._telemetry.ask(f"/ethdev/stats,{number}")["imissed"])
            for port, number in self._dropping_ports.items()
        }

    @cached_property
    def _dropping_ports(self) -> Mapping[str, int]:
        """Port numbers by name, of ports that can drop a frame."""
        ports = [p for p in self.config.ports if not p.device.startswith(RING_DEVICES)]
        if not ports or self._telemetry is None:
            return {}
        infos = port_infos(self._telemetry)
        return {port.name: port_of_device(infos, port.device) for port in ports}

    def port_settings(self) -> Mapping[str, str]:
        """Return the settings of its ports by readable name. Raises BenchError before it is up."""
        if self._telemetry is None:
            raise BenchError(f"{self.name} is not ready: the settings of its ports are not known")
        devices = {f"{self.name}/port {port.name}": port.device for port in self.config.ports}
        return port_settings(port_infos(self._telemetry), devices)

    def heap_bytes(self) -> int:
        """Return the bytes in use of its heap: buffers, rings, tables. 0 before it is up."""
        if self._telemetry is None:
            return 0
        return heap_bytes(self._telemetry)

    def without_buffers(self) -> int:
        """Return how often its ports found no free receive buffer since the start."""
        return sum(int(port["rx_nombuf"]) for port in self.ask("ports").values())

    def placement(self, cpu: int, other: int) -> CpuPlacement:
        """Return what two CPUs of its host share. Raises BenchError where one is unavailable."""
        found = self.ask(f"placement,{cpu},{other}")
        return CpuPlacement(float(found["core_to_core_ns"]), found["slowdown_pct"] / 100)

    def crash(self) -> None:
        """Kill it as a crash would.

        waits_for starts it again, once its sockets are gone.
        """
        self._daemon.kill()
        if sockets := [port.serves_at for port in self.config.ports if port.serves_at is not None]:
            self._host.runner.run(["rm", "-f", "--", *sockets])
        if self._telemetry is not None:
            self._telemetry.close()
        self._telemetry = None

    @property
    def answers(self) -> bool:
        """Return whether it is up and answers queries."""
        return self._telemetry is not None

    def stop(self) -> None:
        if self._telemetry is not None:
            self._telemetry.close()
        self._daemon.stop()

    def describe(self) -> dict[str, object]:
        info = self.ask("info")
        return {
            "command": self._daemon.command,
            "version": info["version"],
            "dpdk_version": info["dpdk"],
            "tsc_hz": int(info["tsc_hz"]),
            "config": self.config.render(),
        }
