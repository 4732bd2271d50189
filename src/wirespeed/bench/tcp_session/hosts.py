# SPDX-License-Identifier: Apache-2.0
"""Open and close the hosts of a TCP test with their server, and watch its clients."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from wirespeed.bench.assembly.parts import bring_up, first_ended
from wirespeed.bench.guest.interface import Guests, emulated_by
from wirespeed.bench.guest.part import BOOT_S
from wirespeed.bench.host.directories import Directories, run_directories
from wirespeed.bench.host.host import Host, changing_host, terminated_like_interrupted
from wirespeed.bench.host.hugepages import reserved
from wirespeed.bench.host.network import Network
from wirespeed.bench.host.root import check_namespaces, effective_user
from wirespeed.bench.host.vf_changes import pf_interface, vf_entries
from wirespeed.bench.interface import BenchError, Part
from wirespeed.bench.noise.competing import Competing, Usage, competing, look
from wirespeed.bench.placement.interface import READY_S
from wirespeed.bench.site import Site
from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.switch.interface import KernelPorts, SwitchSetup
from wirespeed.bench.switch.nic.part import describe_vf, emulated_nic
from wirespeed.bench.topology import tcp as topology
from wirespeed.bench.traffic.tcp.clients import Client, TcpServer, cpu_s, run_clients
from wirespeed.bench.traffic.tcp.ends.interface import End
from wirespeed.bench.traffic.tcp.ends.make import make_ends
from wirespeed.bench.traffic.tcp.sampler import Counters, Look, Program, Sampler
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.study.spec import TcpStreams
from wirespeed.model.study.tcp import Tcp
from wirespeed.remote.interface import HostUnreachable, Process, Runner
from wirespeed.remote.state import state_directory

CLIENTS = "clients"


@dataclass(frozen=True, slots=True)
class Watched:
    """One test of all clients, seen from outside."""

    outputs: tuple[str, ...]
    """Output of each client."""
    elapsed_s: float
    server_cpu_s: float
    switch_cpu_s: float | None
    """None without processes of a switch."""
    looks: Sequence[Look]
    outside: Competing


@dataclass(frozen=True, slots=True)
class TcpHosts:
    """Hosts joined as a point asks, with a running server. Made by open_hosts alone."""

    tcp: Tcp
    host: Host
    ends: Mapping[str, End]
    server: TcpServer
    joined: topology.Hosts
    vswitch: Part | None
    programs: tuple[Program, ...]
    description: Mapping[str, object]
    emulated: str | None = None

    @property
    def clients(self) -> list[tuple[End, str]]:
        """Each client's end, and the server's address for it."""
        return [(self.ends[name], address) for name, address in self.joined.clients]

    @property
    def server_runner(self) -> Runner:
        return self.ends[topology.SERVER].place.host.runner

    def watch(
        self,
        clients: Sequence[Client],
        counters: Counters,
        test_s: float,
        look_on: Callable[[], None] = lambda: None,
    ) -> Watched:
        """Run all clients once, at the same time. Raises BenchError when one fails.

        look_on: called at each look at the counters.
        """
        try:
            return self._watch(clients, counters, test_s, look_on)
        except HostUnreachable as lost:
            ended = first_ended([part for end in self.ends.values() if (part := end.part)])
            raise BenchError(ended or lost.what) from lost

    def _watch(
        self,
        clients: Sequence[Client],
        counters: Counters,
        test_s: float,
        look_on: Callable[[], None],
    ) -> Watched:
        runner = self.host.runner
        usage = look(runner)
        sampler = Sampler(runner, self.programs, counters)

        def looked() -> None:
            sampler.look()
            look_on()

        began, before = time.monotonic(), self._cpu_s()
        outputs = run_clients(
            clients, self.server, test_s,
            started=partial(sampler.started, CLIENTS), look=looked,
        )  # fmt: skip
        elapsed_s, after = time.monotonic() - began, self._cpu_s()
        return Watched(
            outputs,
            elapsed_s,
            after[0] - before[0],
            after[1] - before[1] if self._switch_processes else None,
            sampler.looks,
            self._competing(usage, look(runner)),
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
        return (
            cpu_s(self.server_runner, self.server.processes),
            cpu_s(self.host.runner, self._switch_processes),
        )

    @property
    def _switch_processes(self) -> tuple[Process, ...]:
        """Return the switch's processes; none where the kernel forwards."""
        return () if self.vswitch is None else self.vswitch.processes


@contextmanager
def open_hosts(
    streams: TcpStreams, plan: Plan, site: Site, make_server: Callable[[End], TcpServer]
) -> Iterator[TcpHosts]:
    """Bring up hosts, vSwitch and server of this point; undo all when the context ends.

    make_server: makes the server on its host. Raises BenchError when a component cannot be brought
    up.
    """
    tcp, host_plan = streams.tcp, plan.sut_host
    runner, guests = site.runner, site.guests
    with (
        terminated_like_interrupted(),
        changing_host(runner, state_directory(os.environ)) as host,
        ExitStack() as stack,
    ):
        check_namespaces(effective_user(runner), "[tcp]")
        dirs = stack.enter_context(run_directories(host, site.logs))
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
        server = make_server(ends[topology.SERVER])
        bring_up([server], stack)
        parts = (*(() if switch is None else (switch,)), *apart, server)
        description = {part.name: part.describe() for part in parts}
        emulated = emulated_by(guests)
        if topology.PATHS[tcp.path].on_vfs:
            [pf] = streams.ports
            description["NIC"] = _describe_nic(streams, runner, pf)
            emulated = emulated_nic(runner, pf)
        programs = _programs(ends, server, switch, host_plan)
        yield TcpHosts(
            tcp, host, ends, server, hosts, switch, programs, description, emulated
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
