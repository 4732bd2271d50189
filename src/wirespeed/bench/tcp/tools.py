# SPDX-License-Identifier: Apache-2.0
"""Which programs are the two ends of a TCP test, on which CPUs, and what do they say?"""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.bench.dpdk import Directories
from wirespeed.bench.host_state import HostState
from wirespeed.bench.tcp import iperf3, output, programs
from wirespeed.bench.tcp.clients import Client, TcpServer
from wirespeed.model.tcp import Tcp, TcpTool, TcpWay


def make_server(
    tcp: Tcp, state: HostState, dirs: Directories, namespace: str, cpus: Sequence[int]
) -> TcpServer:
    """The part that serves all clients of the point."""
    if tcp.tool is TcpTool.IPERF3:
        count = tcp.clients * tcp.processes
        return iperf3.Iperf3Servers(state, dirs, namespace, cpus, count)
    return programs.SpeedtestServer(state, dirs, namespace, cpus)


def make_clients(
    tcp: Tcp, hosts: Sequence[tuple[str, str, str]], cpus: Sequence[int], log: str
) -> tuple[Client, ...]:
    """The client processes. hosts: name, namespace and the server's address of each client host.

    Ours use all the clients' CPUs; of iperf3's, each has one, in turn.
    """
    if tcp.tool is TcpTool.WIRESPEED:
        program = programs.find_program()
        return tuple(
            Client(namespace, (program, *programs.client_words(address, tcp)),
                   f"{log}/{name}.json", tuple(cpus))
            for name, namespace, address in hosts
        )  # fmt: skip
    each = [(*host, process) for host in hosts for process in range(tcp.processes)]
    return tuple(
        Client(namespace, tuple(iperf3.client_words(address, number, tcp)),
               f"{log}/{name}-{process}.json", (cpus[number % len(cpus)],))
        for number, (name, namespace, address, process) in enumerate(each)
    )  # fmt: skip


def read_output(text: str, tcp: Tcp) -> tuple[tuple[TcpWay, ...], float]:
    """What one client process said: its directions, and the share of a core that it used."""
    if tcp.tool is TcpTool.IPERF3:
        return iperf3.read_output(text, tcp.direction)
    return output.read_output(text)
