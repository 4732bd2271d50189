# SPDX-License-Identifier: Apache-2.0
"""Open, use and close a bench for TCP traffic, so that it leaves nothing behind."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wirespeed.bench.assembly.parts import bring_up, first_ended
from wirespeed.bench.guest.interface import Guests, emulated_by
from wirespeed.bench.guest.part import BOOT_S
from wirespeed.bench.host.directories import Directories, run_directories
from wirespeed.bench.host.host import Host, changing_host, terminated_like_interrupted
from wirespeed.bench.host.hugepages import reserved
from wirespeed.bench.host.network import Network
from wirespeed.bench.host.root import check_root, effective_user
from wirespeed.bench.host.vf_changes import pf_interface, vf_entries
from wirespeed.bench.interface import BenchError, Part, TcpBench
from wirespeed.bench.noise.competing import Competing, Usage, competing, look
from wirespeed.bench.placement.interface import READY_S
from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.switch.interface import KernelPorts, SwitchSetup
from wirespeed.bench.switch.nic.part import describe_vf, emulated_nic
from wirespeed.bench.topology import tcp as topology
from wirespeed.bench.traffic.tcp.clients import Client, TcpServer, cpu_s, run_clients
from wirespeed.bench.traffic.tcp.ends.interface import End
from wirespeed.bench.traffic.tcp.ends.make import make_ends
from wirespeed.bench.traffic.tcp.intervals import evidence, payload, taken
from wirespeed.bench.traffic.tcp.ports import (
    PortCounters,
    clients_ports,
    server_ports,
    switch_ports,
)
from wirespeed.bench.traffic.tcp.sampler import Program, Sampler
from wirespeed.bench.traffic.tcp.tools import make_clients, make_server, read_output
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.result.tcp import TcpRun
from wirespeed.model.study.spec import TcpStreams
from wirespeed.model.study.tcp import Tcp, TcpDirection
from wirespeed.remote.interface import HostUnreachable, Process, Runner
from wirespeed.remote.state import state_directory

CLIENTS = "clients"
_DIRECTIONS = {
    TcpDirection.UP: (TcpDirection.UP,),
    TcpDirection.DOWN: (TcpDirection.DOWN,),
    TcpDirection.BOTH: (TcpDirection.UP, TcpDirection.DOWN),
}


@dataclass(frozen=True, slots=True)
class RealTcpBench:
    """A TCP bench on one host. Made by open_tcp_bench alone."""

    tcp: Tcp
    host: Host
    ends: Mapping[str, End]
    server: TcpServer
    clients: tuple[Client, ...]
    vswitch: Part | None
    programs: tuple[Program, ...]
    ports: PortCounters
    description: Mapping[str, object]
    emulated: str | None = None

    def run(self) -> TcpRun:
        """Run one test; see interface.TcpBench."""
        try:
            return self._run()
        except HostUnreachable as lost:
            ended = first_ended([part for end in self.ends.values() if (part := end.part)])
            raise BenchError(ended or lost.what) from lost

    def _run(self) -> TcpRun:
        tcp, runner = self.tcp, self.host.runner
        tested_s = tcp.omit_s + tcp.seconds
        usage = look(runner)
        sampler = Sampler(runner, self.programs, self.ports)
        began, before = time.monotonic(), self._cpu_s()
        outputs = run_clients(
            self.clients, self.server, tested_s,
            started=partial(sampler.started, CLIENTS), look=sampler.look,
        )  # fmt: skip
        elapsed_s, after = time.monotonic() - began, self._cpu_s()
        outside = self._competing(usage, look(runner))
        read = [read_output(text, tcp) for text in outputs]
        # Octets count only after omit_s, so CPU time is scaled to the same part of the test.
        counted = tcp.seconds / tested_s
        return TcpRun(
            tuple(each for results, _ in read for each in results),
            elapsed_s,
            (after[0] - before[0]) * counted,
            sum(share for _, share in read) * tcp.seconds,
            (after[1] - before[1]) * counted if self._switch_processes else None,
            taken(sampler.looks, self.programs),
            outside.cpu_s,
            outside.busiest,
            evidence(sampler.looks, self.programs, tcp, outside.cpu_s),
            payload(sampler.looks, _DIRECTIONS[tcp.direction]),
        )

    def _competing(self, before: Mapping[int, Usage], after: Mapping[int, Usage]) -> Competing:
        """Return what competing processes used between two looks at all processes."""
        return competing(
            self.host.runner,
            before,
            after,
            bench=[pid for program in self.programs for pid in program.pids],
            parent=os.getpid(),
            cpus=frozenset[int]().union(*(program.cpus for program in self.programs)),
        )

    def _cpu_s(self) -> tuple[float, float]:
        server = self.ends[topology.SERVER].place.host.runner
        return (
            cpu_s(server, self.server.processes),
            cpu_s(self.host.runner, self._switch_processes),
        )

    @property
    def _switch_processes(self) -> tuple[Process, ...]:
        """Return the switch's processes; none where the kernel forwards."""
        return () if self.vswitch is None else self.vswitch.processes

    def describe(self) -> Mapping[str, object]:
        return self.description


@contextmanager
def open_tcp_bench(
    streams: TcpStreams, plan: Plan, runner: Runner, run_dir: Path, guests: Guests | None = None
) -> Iterator[TcpBench]:
    """Bring up hosts, vSwitch and server of this point; undo all when the context ends.

    run_dir: folder for logs. guests: see session.open_bench. Raises BenchError when a component
    cannot be brought up.
    """
    tcp, host_plan = streams.tcp, plan.sut_host
    with (
        terminated_like_interrupted(),
        changing_host(runner, state_directory(os.environ)) as host,
        ExitStack() as stack,
    ):
        check_root(effective_user(runner), streams, host_plan)
        dirs = stack.enter_context(run_directories(host, run_dir))
        ends = make_ends(streams, host, dirs, host_plan, guests)
        hosts = topology.hosts(tcp)
        switch = _switch(tcp, host, dirs, host_plan)
        for cable in hosts.cables:
            ends[cable.a.host].plug_in(cable)
        apart = [part for end in ends.values() if (part := end.part) is not None]
        with reserved(host, host_plan.huge_pages.value):
            bring_up(apart if switch is None else [switch, *apart], stack, _ready_s(guests))
        for port in hosts.ports:
            ends[port.host].set_up(port, hosts.neighbours(port))
        server = make_server(tcp, ends[topology.SERVER])
        bring_up([server], stack)
        clients = make_clients(tcp, [(ends[name], address) for name, address in hosts.clients])
        programs = _programs(ends, server, switch, host_plan)
        parts = (*(() if switch is None else (switch,)), *apart, server)
        description = {part.name: part.describe() for part in parts}
        emulated = emulated_by(guests)
        if topology.PATHS[tcp.path].on_vfs:
            [pf] = streams.ports
            description["NIC"] = _describe_nic(streams, runner, pf)
            emulated = emulated_nic(runner, pf)
        yield RealTcpBench(
            tcp, host, ends, server, clients, switch, programs,
            _counters(tcp, hosts, ends, server, switch), description, emulated,
        )  # fmt: skip


def _describe_nic(streams: TcpStreams, runner: Runner, pf: str) -> Mapping[str, object]:
    """Return the settings of the hosts' virtual functions as the driver reports them, by host."""
    interface = pf_interface(runner, pf)
    if interface is None:
        raise BenchError(f"{pf} on {runner.name} has lost its interface")
    seen = vf_entries(runner, interface)
    # The bench has made them all, in this order.
    hosts = enumerate(topology.virtual_functions(streams))
    return {host: describe_vf(runner, pf, seen[number], one_vlan=True) for number, host in hosts}


def _ready_s(guests: Guests | None) -> float:
    return READY_S if guests is None else READY_S + BOOT_S[guests.no_kvm is not None]


def _switch(tcp: Tcp, host: Host, dirs: Directories, plan: HostPlan) -> Part | None:
    """Build the path's switch and make its namespace; do not start the switch."""
    path = topology.PATHS[tcp.path]
    if path.switch is None or plan.vswitch is None:
        return None
    namespace = Network(host, dirs.tag).host(topology.SWITCH)
    interfaces = topology.switch_interfaces(tcp)
    return SWITCHES[path.switch].part_between(
        SwitchSetup(host, dirs, plan.vswitch, topology.switch_wiring(tcp)),
        KernelPorts(namespace, interfaces, path.polled, tcp.queues, tcp.offloads),
    )


def _programs(
    ends: Mapping[str, End], server: TcpServer, switch: Part | None, plan: HostPlan
) -> tuple[Program, ...]:
    """Return the programs to watch on the bench's host."""
    serving = ends[topology.SERVER]
    clients = [end for end in ends.values() if end is not serving]
    programs = [
        Program("server", serving.watched_cpus, serving.watched(server.processes)),
        Program(
            CLIENTS,
            frozenset[int]().union(*(end.watched_cpus for end in clients)),
            tuple(pid for end in clients for pid in end.watched(())),
        ),
    ]
    if switch is not None and switch.processes and plan.vswitch is not None:
        forwarding = frozenset(plan.vswitch.pmd_cpus.value)
        pids = tuple(process.pid for process in switch.processes)
        programs.append(Program(switch.name, forwarding, pids))
    return tuple(programs)


def _counters(
    tcp: Tcp, hosts: topology.Hosts, ends: Mapping[str, End], server: TcpServer, switch: Part | None
) -> PortCounters:
    """Return the counters of the payload."""
    guests = topology.guest_names(tcp)
    if switch is not None and switch.processes:
        pid = switch.processes[0].pid
        if not guests:
            return switch_ports(hosts.cables, pid)
        if guests == (topology.SERVER,):
            return clients_ports(hosts.cables, pid)
    there = ends[topology.SERVER].place.host.runner if guests else None
    return server_ports(hosts.server_ports, server.processes[0].pid, there)
