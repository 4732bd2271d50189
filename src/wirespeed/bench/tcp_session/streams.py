# SPDX-License-Identifier: Apache-2.0
"""Open, use and close a bench for TCP traffic, so that it leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from wirespeed.bench.interface import TcpBench
from wirespeed.bench.site import Site
from wirespeed.bench.tcp_session.hosts import TcpHosts, open_hosts
from wirespeed.bench.topology import tcp as topology
from wirespeed.bench.traffic.tcp.clients import Client
from wirespeed.bench.traffic.tcp.intervals import evidence, payload, taken
from wirespeed.bench.traffic.tcp.ports import (
    PortCounters,
    clients_ports,
    server_ports,
    switch_ports,
)
from wirespeed.bench.traffic.tcp.tools import make_clients, make_server, read_output
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.tcp import TcpRun
from wirespeed.model.study.spec import TcpStreams
from wirespeed.model.study.tcp import TcpDirection

_DIRECTIONS = {
    TcpDirection.UP: (TcpDirection.UP,),
    TcpDirection.DOWN: (TcpDirection.DOWN,),
    TcpDirection.BOTH: (TcpDirection.UP, TcpDirection.DOWN),
}


@dataclass(frozen=True, slots=True)
class RealTcpBench:
    """A TCP bench on one host. Made by open_tcp_bench alone."""

    hosts: TcpHosts
    clients: tuple[Client, ...]
    ports: PortCounters

    def run(self) -> TcpRun:
        """Run one test; see interface.TcpBench."""
        tcp = self.hosts.tcp
        tested_s = tcp.omit_s + tcp.seconds
        found = self.hosts.watch(self.clients, self.ports, tested_s)
        read = [read_output(text, tcp) for text in found.outputs]
        # Octets count only after omit_s, so CPU time is scaled to the same part of the test.
        counted = tcp.seconds / tested_s
        looks, programs, outside = found.looks, self.hosts.programs, found.outside
        return TcpRun(
            tuple(each for results, _ in read for each in results),
            found.elapsed_s,
            found.server_cpu_s * counted,
            sum(share for _, share in read) * tcp.seconds,
            None if found.switch_cpu_s is None else found.switch_cpu_s * counted,
            taken(looks, programs),
            outside.cpu_s,
            outside.busiest,
            evidence(looks, programs, tcp, outside.cpu_s),
            payload(looks, _DIRECTIONS[tcp.direction]),
        )

    @property
    def emulated(self) -> str | None:
        return self.hosts.emulated

    def describe(self) -> Mapping[str, object]:
        return self.hosts.description


@contextmanager
def open_tcp_bench(streams: TcpStreams, plan: Plan, site: Site) -> Iterator[TcpBench]:
    """Bring up the bench of this point; undo all when the context ends. Raises BenchError."""
    tcp = streams.tcp
    with open_hosts(streams, plan, site, partial(make_server, tcp)) as hosts:
        yield RealTcpBench(hosts, make_clients(tcp, hosts.clients), _counters(hosts))


def _counters(bench: TcpHosts) -> PortCounters:
    """Return the counters of the payload."""
    guests, hosts, switch = topology.guest_names(bench.tcp), bench.joined, bench.vswitch
    if switch is not None and switch.processes:
        pid = switch.processes[0].pid
        if not guests:
            return switch_ports(hosts.cables, pid)
        if guests == (topology.SERVER,):
            return clients_ports(hosts.cables, pid)
    there = bench.server_runner if guests else None
    return server_ports(hosts.server_ports, bench.server.processes[0].pid, there)
