# SPDX-License-Identifier: Apache-2.0
"""A running wsdp: found, started on its INI file, awaited, asked and stopped."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from wirespeed.bench import dpdk
from wirespeed.bench.host_state import HostState
from wirespeed.bench.interface import BenchError, GapLog, Poller
from wirespeed.bench.noise.poll_gaps import read_gap_logs
from wirespeed.bench.process import Daemon
from wirespeed.bench.wsdp.config import WsdpConfig
from wirespeed.bench.wsdp.telemetry import Telemetry
from wirespeed.remote.interface import Process

# In a source tree, where `make setup` leaves the program.
_BUILT = Path(__file__).parents[4] / "build" / "dataplane" / "wsdp"


class Wsdp:
    """One wsdp process."""

    def __init__(
        self, name: str, state: HostState, dirs: dpdk.Directories, config: WsdpConfig
    ) -> None:
        self.name = name
        self.config = config
        self._state, self._dirs = state, dirs
        self._daemon = Daemon(name, state, dirs)
        self._ini = str(dirs.log / f"{name}.ini")
        self._socket = dpdk.telemetry_socket(dirs.run, config.file_prefix)
        self._telemetry: Telemetry | None = None

    def start(self) -> None:
        """Start it, now or as soon as the sockets are there that it connects to."""
        self._state.runner.write(self._ini, self.config.render())
        self.waits_for()

    def waits_for(self) -> str | None:
        """None once its ports are up and its telemetry answers, else what it waits for."""
        runner = self._state.runner
        if not self.processes:
            wanted = {p.connects_to for p in self.config.ports if p.connects_to is not None}
            if missing := wanted - set(runner.glob(*wanted)):
                return f"the sockets {sorted(missing)}"
            self._daemon.start(
                [find_program(), "--config", self._ini],
                env=dpdk.environment(self._dirs.run),
                cpus={self.config.control_cpu, *self.config.cpus, *self.config.floats_over},
            )
        if self._telemetry is None:
            if "wsdp ready" not in runner.read(self._daemon.log):
                return f"its ports ({dpdk.last_words(runner, self._daemon.log)})"
            self._telemetry = Telemetry(runner, self._socket)
        return None

    def ask(self, command: str) -> Any:
        """The answer to a /wirespeed command, e.g. ask("stats").

        Raises BenchError; when the process has ended, it says how.
        """
        if self._telemetry is None:
            raise BenchError(f"{self.name} was asked for {command} before it was ready")
        try:
            return self._telemetry.ask(f"/wirespeed/{command}")
        except BenchError as fault:
            raise BenchError(self.ended() or str(fault)) from fault

    def export(self, command: str) -> str:
        """What a command writes to a file, because it would not fit into an answer."""
        path = str(self._dirs.run / f"{self.name}.export")
        self.ask(f"{command},{path}")
        return self._state.runner.read(path)

    def ended(self) -> str | None:
        return self._daemon.ended()

    @property
    def processes(self) -> tuple[Process, ...]:
        return self._daemon.processes

    def pollers(self, role: str) -> tuple[Poller, ...]:
        """The lcores."""
        return tuple(
            Poller(seen["tid"], f"{self.name}/lcore{lcore}", role, timed=True)
            for lcore, seen in self.ask("lcores").items()
        )

    def gap_logs(self, role: str) -> tuple[GapLog, ...]:
        """When its lcores were away from their queues since the last reset."""
        return read_gap_logs(self.export("gaps"), self.name, role)

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
            "config": self.config.render(),
        }


def find_program() -> str:
    """The wsdp program: the source tree's own, else the one in PATH."""
    if _BUILT.exists():
        return str(_BUILT)
    found = shutil.which("wsdp")
    if found is None:
        raise BenchError(
            f"wsdp, the data plane program, is not built: {_BUILT} does not exist",
            "Run `make setup`.",
        )
    return found
