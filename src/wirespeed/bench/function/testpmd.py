# SPDX-License-Identifier: Apache-2.0
"""Run DPDK's testpmd as a network function, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from wirespeed.bench.function.addresses import rewritten
from wirespeed.bench.function.interface import Demand, Setup, polled_function
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.network import inside
from wirespeed.bench.host.process import Daemon, last_words
from wirespeed.bench.interface import BenchError, Busy, GapLog, HopCount, Part, Poller
from wirespeed.bench.program import dpdk
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.bench.program.port_info import port_infos, port_of_device, port_settings
from wirespeed.bench.topology.addresses import Header
from wirespeed.bench.topology.wiring import SIDES
from wirespeed.model.input.fault import Fault
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames, VnfMode
from wirespeed.model.study.sut import SutDescription
from wirespeed.remote.interface import Process
from wirespeed.sources.scheduler import pollers_of
from wirespeed.sources.telemetry import Telemetry

# Without a terminal, testpmd keeps running only if it prints statistics periodically. DPDK 24.11
# rejects a period of 65535 s.
_SELDOM_S = 32_767


@dataclass(frozen=True, slots=True)
class TestpmdConfig:
    """Parameters of a testpmd process."""

    name: str
    process: WsdpConfig
    """Placement, memory and ports of its process, without tasks."""
    mode: VnfMode
    sides: Sequence[str]
    """The function's names of the ports."""
    peer_macs: Sequence[str | None]
    """Destination address of frames that leave at each port; None where none is forwarded."""
    blocked_by: DropCause

    def command(self) -> list[str]:
        process, ports = self.process, self.process.ports
        eal = [
            *inside(process.namespace),
            "dpdk-testpmd",
            "--lcores", f"0@{process.control_cpu},1@{process.cpus[0]}",
            f"--file-prefix={process.file_prefix}",
            *dpdk.device_options(port.device for port in ports),
            *dpdk.memory_options(process.memory),
        ]  # fmt: skip
        own = [
            f"--forward-mode={self.mode}",
            "--nb-cores=1",
            f"--rxq={ports[0].queues}",
            f"--txq={ports[0].queues}",
            f"--rxd={ports[0].descriptors}",
            f"--txd={ports[0].descriptors}",
            f"--total-num-mbufs={process.memory.mbufs}",
            f"--mbuf-size={process.memory.data_bytes}",
            f"--max-pkt-len={ports[0].mtu + 18}",
            f"--stats-period={_SELDOM_S}",
        ]
        devices = [port.device for port in ports]
        numbers = [dpdk.in_port_order(devices).index(device) for device in devices]
        own += [
            f"--eth-peer={number},{mac}"
            for number, mac in zip(numbers, self.peer_macs, strict=True)
            if mac is not None
        ]
        return [*eal, "--", *own]


class TestpmdFunction:
    """testpmd as a component of a bench."""

    unwatched = None

    def __init__(self, host: Host, dirs: Directories, config: TestpmdConfig) -> None:
        self.config = config
        self._host, self._dirs = host, dirs
        self._daemon = Daemon(config.name, host, dirs)
        self._telemetry: Telemetry | None = None

    @property
    def name(self) -> str:
        return self.config.name

    def up(self) -> None:
        process = self.config.process
        self._daemon.start(
            self.config.command(),
            env=dpdk.environment(self._dirs.run),
            cpus={process.control_cpu, *process.cpus},
        )

    def waits_for(self) -> str | None:
        path = dpdk.telemetry_socket(self._dirs.run, self.config.process.file_prefix)
        if self._telemetry is None:
            late = f"DPDK ({last_words(self._host.runner, self._daemon.log)})"
            if not self._host.runner.glob(path):
                return late
            try:
                self._telemetry = Telemetry(self._host.runner, path)
            except ConnectionRefusedError:
                # A socket's file is there from bind() on, its listener from listen() on.
                return late
        # testpmd forwards from the moment its last port is started.
        infos = port_infos(self._telemetry)
        started = {dpdk.device_name(i["name"]) for i in infos.values() if i["dev_started"]}
        devices = self._devices.items()
        stopped = [side for side, each in devices if dpdk.device_name(each) not in started]
        return f"its ports {stopped}" if stopped else None

    @property
    def _devices(self) -> Mapping[str, str]:
        """Device strings by side."""
        devices = [port.device for port in self.config.process.ports]
        return dict(zip(self.config.sides, devices, strict=True))

    def alive(self) -> str | None:
        return self._daemon.ended()

    @property
    def processes(self) -> tuple[Process, ...]:
        return self._daemon.processes

    @property
    def programs(self) -> tuple[int, ...]:
        return tuple(process.pid for process in self.processes)

    def begin(self) -> None:
        """Do nothing: all of testpmd's counters are cumulative."""

    def read(self) -> tuple[HopCount, ...]:
        """Read the counters of testpmd's devices; its own counters go only to its console.

        In these modes testpmd drops a frame only when the other port's ring is full. So the frames
        received at one port and not sent at the other count as that cause.
        """
        telemetry = self._ready("its counters")
        seen = {side: telemetry.ask(f"/ethdev/stats,{n}") for side, n in self._numbers.items()}
        entered = {side: stats["ipackets"] for side, stats in seen.items()}
        left = {side: stats["opackets"] for side, stats in seen.items()}
        refused = sum(entered.values()) - sum(left.values())
        drops = {(self.name, self.config.blocked_by): refused}
        return (HopCount(self.name, entered, left, drops),)

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        """Port numbers by side."""
        infos = port_infos(self._ready("its ports"))
        return {side: port_of_device(infos, device) for side, device in self._devices.items()}

    def _ready(self, wanted: str) -> Telemetry:
        if self._telemetry is None:
            raise BenchError(f"{self.name} is not ready: {wanted} are not known")
        return self._telemetry

    def pollers(self) -> tuple[Poller, ...]:
        """Return its lcores. testpmd does not record the times of its polls."""
        [process] = self.processes
        return tuple(
            Poller(t.tid, f"{self.name}/{t.name}", "sut", timed=False)
            for t in pollers_of(self._host.runner, process.pid)
        )

    def gap_logs(self) -> tuple[GapLog, ...]:
        return ()

    def busy(self) -> Mapping[int, Busy]:
        """Return nothing: testpmd counts busy cycles only when built to."""
        return {}

    def settings(self) -> Mapping[str, str]:
        """Return the settings of its ports; see noise.settings.Configured."""
        infos = port_infos(self._ready("the settings of its ports"))
        devices = {f"{self.name}/port {side}": device for side, device in self._devices.items()}
        return port_settings(infos, devices)

    def down(self) -> None:
        if self._telemetry is not None:
            self._telemetry.close()
        self._daemon.stop()

    def describe(self) -> dict[str, object]:
        return {"command": list(self._daemon.command)}


class Testpmd:
    """testpmd as a type of network function; its component is TestpmdFunction."""

    name = "testpmd"
    summary = "DPDK's testpmd, always in a process of its own"

    def faults(self, frames: Frames) -> Iterator[Fault]:
        for key, value in frames.sut.vnf.untuned:
            yield Fault(key, value, 'testpmd has no choice; needs sut.vnf.kind = "wsdp"')

    def rewritten(
        self, frames: Frames, header: Header, own: str, target: str, _side: str
    ) -> tuple[Header, str | None]:
        return rewritten(frames.sut.vnf.mode, header, own, target)

    def demand(self, _frames: Frames) -> Demand:
        return Demand()

    def description(self, _frames: Frames) -> SutDescription:
        return polled_function(self.name)

    def part(self, host: Host, dirs: Directories, process: WsdpConfig, setup: Setup) -> Part:
        return TestpmdFunction(host, dirs, self.config(process, setup))

    def config(self, process: WsdpConfig, setup: Setup) -> TestpmdConfig:
        targets = {forward.to_port: forward.dst_mac for forward in setup.forwards}
        return TestpmdConfig(
            setup.name,
            process,
            setup.frames.sut.vnf.mode,
            SIDES,
            tuple(targets.get(side) for side in SIDES),
            setup.blocked_by,
        )
