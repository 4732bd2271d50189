# SPDX-License-Identifier: Apache-2.0
"""Choose the programs of a TCP test and their CPUs, and parse their output."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.bench.host.programs import find_program
from wirespeed.bench.traffic.tcp import iperf3, output, programs
from wirespeed.bench.traffic.tcp.clients import Client, TcpServer
from wirespeed.bench.traffic.tcp.ends.interface import End
from wirespeed.model.result.tcp import TcpDirectionResult
from wirespeed.model.study.tcp import Tcp, TcpTool


def make_server(tcp: Tcp, end: End) -> TcpServer:
    """Return the component that serves all clients of the point."""
    if tcp.tool is TcpTool.IPERF3:
        return iperf3.Iperf3Servers(end.place, tcp.clients * tcp.processes)
    return programs.SpeedtestServer(end.place)


def make_clients(tcp: Tcp, hosts: Sequence[tuple[End, str]]) -> tuple[Client, ...]:
    """Return the client processes.

    hosts: each client's end, and the server's address for it. A wirespeed client uses all CPUs of
    the clients; each iperf3 client uses one, in turn.
    """
    if tcp.tool is TcpTool.WIRESPEED:
        return tuple(_ours(tcp, end, address) for end, address in hosts)
    each = [(end, address, process) for end, address in hosts for process in range(tcp.processes)]
    return tuple(
        Client(end, tuple(iperf3.client_words(address, number, tcp)),
               str(end.place.dirs.log / f"{end.name}-{process}.json"),
               (end.place.cpus[number % len(end.place.cpus)],))
        for number, (end, address, process) in enumerate(each)
    )  # fmt: skip


def _ours(tcp: Tcp, end: End, address: str) -> Client:
    place = end.place
    program = find_program(place.host.runner, programs.SPEEDTEST)
    words = (program, *programs.client_words(address, tcp))
    return Client(end, words, str(place.dirs.log / f"{end.name}.json"), place.cpus)


def read_output(text: str, tcp: Tcp) -> tuple[tuple[TcpDirectionResult, ...], float]:
    """Return the directions in one client's output, and its CPU use as a share of a core."""
    if tcp.tool is TcpTool.IPERF3:
        return iperf3.read_output(text, tcp.direction)
    return output.read_output(text)
