# SPDX-License-Identifier: Apache-2.0
"""How is a bench for TCP traffic opened, used and closed, so that nothing is left behind?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wirespeed.bench.competing import Competing, Usage, competing, look
from wirespeed.bench.host_state import HostState, changing_host, terminated_like_interrupted
from wirespeed.bench.hugepages import reserved
from wirespeed.bench.interface import Part, TcpBench
from wirespeed.bench.journal import state_directory
from wirespeed.bench.network import Network
from wirespeed.bench.parts import bring_up
from wirespeed.bench.root import check_root, effective_user
from wirespeed.bench.session import directories
from wirespeed.bench.tcp import topology
from wirespeed.bench.tcp.clients import Client, TcpServer, cpu_s, run_clients
from wirespeed.bench.tcp.intervals import evidence, payload, taken
from wirespeed.bench.tcp.ports import PortCounters, server_ports, switch_ports
from wirespeed.bench.tcp.sampler import Program, Sampler
from wirespeed.bench.tcp.tools import make_clients, make_server, read_output
from wirespeed.bench.vswitch.ovs import OvsDpdk
from wirespeed.model.plan import Plan
from wirespeed.model.spec import PointSpec
from wirespeed.model.tcp import Tcp, TcpDirection, TcpRun
from wirespeed.remote.interface import Runner

OFFLOADS = ("tso", "gso", "gro")
CLIENTS = "clients"
_DIRECTIONS = {
    TcpDirection.UP: (TcpDirection.UP,),
    TcpDirection.DOWN: (TcpDirection.DOWN,),
    TcpDirection.BOTH: (TcpDirection.UP, TcpDirection.DOWN),
}


@dataclass(frozen=True, slots=True)
class RealTcpBench:
    """A bench on a host. Made by open_tcp_bench alone."""

    tcp: Tcp
    state: HostState
    server: TcpServer
    clients: tuple[Client, ...]
    vswitch: OvsDpdk | None
    programs: tuple[Program, ...]
    ports: PortCounters
    description: Mapping[str, object]

    def run(self) -> TcpRun:
        """See interface.TcpBench."""
        tcp, runner = self.tcp, self.state.runner
        tested_s = tcp.omit_s + tcp.seconds
        usage = look(runner)
        sampler = Sampler(runner, self.programs, self.ports)
        began, before = time.monotonic(), self._cpu_s()
        outputs = run_clients(
            self.state, self.clients, self.server, tested_s,
            started=partial(sampler.started, CLIENTS), look=sampler.look,
        )  # fmt: skip
        elapsed_s, after = time.monotonic() - began, self._cpu_s()
        outside = self._competing(usage, look(runner))
        read = [read_output(text, tcp) for text in outputs]
        # Octets count after omit_s alone, and so does the share of the CPU time that they cost.
        counted = tcp.seconds / tested_s
        return TcpRun(
            tuple(way for ways, _ in read for way in ways),
            elapsed_s,
            (after[0] - before[0]) * counted,
            sum(share for _, share in read) * tcp.seconds,
            None if self.vswitch is None else (after[1] - before[1]) * counted,
            taken(sampler.looks, self.programs),
            outside.cpu_s,
            outside.busiest,
            evidence(sampler.looks, self.programs, tcp, outside.cpu_s),
            payload(sampler.looks, _DIRECTIONS[tcp.direction]),
        )

    def _competing(self, before: Mapping[int, Usage], after: Mapping[int, Usage]) -> Competing:
        """What competing processes used between two looks at all."""
        return competing(
            self.state.runner,
            before,
            after,
            bench=[process.pid for program in self.programs for process in program.processes],
            parent=os.getpid(),
            cpus=frozenset[int]().union(*(program.cpus for program in self.programs)),
        )

    def _cpu_s(self) -> tuple[float, float]:
        runner = self.state.runner
        switch = () if self.vswitch is None else self.vswitch.processes
        return cpu_s(runner, self.server.processes), cpu_s(runner, switch)

    def describe(self) -> Mapping[str, object]:
        return self.description


@contextmanager
def open_tcp_bench(
    spec: PointSpec, plan: Plan, runner: Runner, run_dir: Path
) -> Iterator[TcpBench]:
    """Bring up hosts, vSwitch and server of this point; when the context ends, all is undone.

    run_dir: where logs are left. Raises BenchError when a part cannot be brought up.
    """
    tcp, host_plan = spec.tcp, plan.hosts[0]
    if tcp is None:
        raise ValueError("a TCP bench is for a point with a [tcp] table")
    with (
        terminated_like_interrupted(),
        changing_host(runner, state_directory(os.environ)) as state,
        ExitStack() as stack,
    ):
        check_root(effective_user(runner), spec, plan.hosts[0])
        dirs = directories(state, run_dir)
        network = Network(state, dirs.tag)
        namespace = {name: network.host(name) for name in topology.host_names(tcp)}
        hosts = topology.hosts(tcp, namespace)
        connect(network, hosts, tcp)
        switch = None
        if host_plan.vswitch is not None:
            switch = OvsDpdk(
                state, dirs, host_plan.vswitch, topology.switch_wiring(hosts.cables, tcp),
                topology.switch_ports(hosts.cables, tcp), namespace=namespace[topology.SWITCH],
                tso=tcp.offloads,
            )  # fmt: skip
        cpus = {guest.name: guest.cpus.value for guest in host_plan.guests}
        server = make_server(tcp, state, dirs, namespace[topology.SERVER], cpus["server"])
        parts: Sequence[Part] = (server,) if switch is None else (switch, server)
        with reserved(state, host_plan.huge_pages.value):
            bring_up(parts, stack)
        at = [(name, namespace[name], address) for name, address in hosts.clients]
        clients = make_clients(tcp, at, cpus["clients"], str(dirs.log))
        programs = [
            Program("server", frozenset(cpus["server"]), server.processes),
            Program(CLIENTS, frozenset(cpus["clients"])),
        ]
        if switch is not None and host_plan.vswitch is not None:
            forwarding = frozenset(host_plan.vswitch.pmd_cpus.value)
            programs.append(Program(switch.name, forwarding, switch.processes))
        ports = (
            server_ports(hosts.cables, server.processes[0].pid)
            if switch is None
            else switch_ports(hosts.cables, switch.processes[0].pid)
        )
        description = {part.name: part.describe() for part in parts}
        yield RealTcpBench(tcp, state, server, clients, switch, tuple(programs), ports, description)


def connect(network: Network, hosts: topology.Hosts, tcp: Tcp) -> None:
    """Lay the cables and make them what the point asks for."""
    for cable in hosts.cables:
        network.connect(cable, tcp.mtu, tcp.queues)
        for port in cable.ends:
            network.set_offloads(port, *OFFLOADS, on=tcp.offloads)
    for port in hosts.ports:
        others = [other for other in hosts.ports if _same_subnet(port.ip, other.ip)]
        network.introduce(port, [other for other in others if other != port])
        if tcp.path.has_vswitch and not tcp.offloads:
            # Without its TSO, Open vSwitch passes on what the kernel left for a NIC to sum up.
            network.set_offloads(port, "tx", on=False)
        if tcp.wire_bps is not None:
            network.limit(port, tcp.wire_bps)


def _same_subnet(a: str | None, b: str | None) -> bool:
    return a is not None and b is not None and a.rpartition(".")[0] == b.rpartition(".")[0]
