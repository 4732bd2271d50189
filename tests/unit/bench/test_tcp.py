# SPDX-License-Identifier: Apache-2.0
"""Check the pieces of TCP tests, without a host."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.assembly.kinds import tcp_needs_of
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.journal import Journal
from wirespeed.bench.host.journal_file import Found
from wirespeed.bench.interface import BenchError
from wirespeed.bench.switch.interface import KernelPorts
from wirespeed.bench.switch.ovs_dpdk.ports import kernel_ports
from wirespeed.bench.topology import tcp as topology
from wirespeed.bench.traffic.tcp import iperf3
from wirespeed.bench.traffic.tcp.ends.interface import Place
from wirespeed.bench.traffic.tcp.output import read_output
from wirespeed.bench.traffic.tcp.programs import client_words
from wirespeed.bench.traffic.tcp.tools import make_clients
from wirespeed.model.plan.policy import InterfaceKind
from wirespeed.model.study.spec import TcpStreams
from wirespeed.model.study.tcp import Tcp, TcpDirection, TcpGuests, TcpTool

DIRS = Directories(PurePosixPath("/run/w"), PurePosixPath("/log"), "tag")


@dataclass
class FakeEnd:
    """An End on a host where nothing can be started."""

    name: str
    cpus: tuple[int, ...]

    @property
    def place(self) -> Place:
        journal = Journal(Path("absent"), io.StringIO(), Found("localhost"))
        return Place(Host(FakeHost({}), Path("absent"), journal), DIRS, (), self.cpus)


@pytest.mark.parametrize("path", [path.name for path in topology.PATHS])
def test_no_two_ports_share_an_address_or_a_name_on_their_host(path: str) -> None:
    tcp = Tcp(path=path, clients=5)
    hosts = topology.hosts(tcp)
    ends = [end for cable in hosts.cables for end in cable.ends]
    assert len({end.mac for end in ends}) == len(ends)
    assert len({(end.host, end.name) for end in ends}) == len(ends)
    ips = [port.ip for port in hosts.ports]
    assert len(set(ips)) == len(ips)
    assert [name for name, _ in hosts.clients] == [f"client{i}" for i in range(5)]
    assert {server for _, server in hosts.clients} <= set(ips)


def test_the_vswitch_connects_every_client_with_the_server_and_nobody_else() -> None:
    tcp = Tcp(path="ovs", clients=2)
    ports = ("server", "client0", "client1")
    flows = topology.switch_wiring(tcp).flows
    assert {(f.in_port, f.out_port) for f in flows} == {
        ("server", "client0"),
        ("client0", "server"),
        ("server", "client1"),
        ("client1", "server"),
    }
    interfaces = topology.switch_interfaces(tcp)
    made = kernel_ports(KernelPorts("w", interfaces, polled=False, queues=1, tso=True))
    assert [(port.name, port.kind) for port in made] == [(name, "system") for name in ports]


def test_pmd_threads_poll_every_queue_of_the_hosts_cables() -> None:
    tcp = Tcp(path="ovs-pmd", queues=3, offloads=False)
    interfaces = topology.switch_interfaces(tcp)
    ports = kernel_ports(KernelPorts("w", interfaces, polled=True, queues=3, tso=False))
    assert [port.options["dpdk-devargs"] for port in ports] == [
        "net_af_packet1,iface=server,qpairs=3",
        "net_af_packet2,iface=client0,qpairs=3",
    ]
    assert {(port.kind, port.options["n_rxq"]) for port in ports} == {("dpdk", "3")}
    wired = {f.in_port for f in topology.switch_wiring(tcp).flows}
    assert wired == {port.name for port in ports}


@pytest.mark.parametrize(
    ("guests", "machines", "interfaces"),
    [
        (TcpGuests.SERVER, ["server"], ["client0", "client1"]),
        (TcpGuests.ALL, ["server", "client0", "client1"], []),
    ],
)
def test_guests_are_on_sockets_and_other_hosts_on_interfaces(
    guests: TcpGuests, machines: list[str], interfaces: list[str]
) -> None:
    tcp = Tcp(path="vhost-user", clients=2, guests=guests)
    wiring = topology.switch_wiring(tcp)
    assert list(topology.guest_names(tcp)) == machines
    assert [cable.b.port for cable in wiring.cables] == machines
    assert list(topology.switch_interfaces(tcp)) == interfaces
    assert {flow.in_port for flow in wiring.flows} == {"server", "client0", "client1"}


def test_ports_of_sockets_and_of_interfaces_have_numbers_of_their_own() -> None:
    made = kernel_ports(KernelPorts("w", {"client0": "client0"}, False, 1, True), first=2)
    assert [(port.name, port.number) for port in made] == [("client0", 2)]


def test_taps_are_interfaces_of_the_bridges_namespace() -> None:
    tcp = Tcp(path="tap", guests=TcpGuests.ALL)
    assert topology.switch_wiring(tcp).cables == ()
    assert list(topology.switch_interfaces(tcp)) == ["server", "client0"]
    assert tcp_needs_of(TcpStreams(tcp)).guest_ports is InterfaceKind.VIRTIO


def test_the_plan_knows_each_guests_ports() -> None:
    needs = tcp_needs_of(TcpStreams(Tcp(path="vhost-user", clients=5)))
    assert needs.guest_ports is InterfaceKind.VHOST
    [server] = needs.guests
    assert [(port.name, port.mac) for port in server.ports] == [("eth0", "02:00:00:00:01:00")]


def test_the_client_gets_the_points_options_and_no_others() -> None:
    tcp = Tcp(direction=TcpDirection.BOTH, streams=3, mss=1400, message_bytes=64)
    words = client_words("198.18.0.1", tcp)
    assert words[:4] == ["client", "198.18.0.1:5201", "--json", "--bidirectional"]
    options = dict(zip(words[4::2], words[5::2], strict=True))
    assert options == {
        "--time": "5", "--omit": "1", "--parallel": "3", "--block": "64", "--congestion": "cubic",
        "--mss": "1400",
    }  # fmt: skip


def output(**server: Any) -> dict[str, Any]:
    sample = dict.fromkeys(
        ("at_us", "bytes", "rtt_us", "cwnd_bytes", "snd_wnd_bytes", "rcv_wnd_bytes",
         "delivery_rate_bps", "retransmits", "new_field"), 7,
    )  # fmt: skip
    metrics = {"transfer_time_ratio": 1.0, "tcp_efficiency_percent": 98.0,
               "buffer_delay_percent": None}  # fmt: skip
    judged = {
        "server": "sends",
        "verdict": {"limited_by": "path", "because": ["loss"]},
        "rfc6349": [metrics, metrics | {"transfer_time_ratio": 2.0}],
    }
    said = {"client_cpu_percent": 50.0, "directions": [judged],
            "series": [{"id": 1, "server": "sends", "tcp_info": [sample]}]}  # fmt: skip
    counted = {"server": "sends", "bytes": 9, "bits_per_second": 72.0, "retransmits": 4}
    return {"results": [{"error": None, "directions": [counted], "server": said | server}]}


def test_the_clients_output_becomes_ways() -> None:
    [way], cpu = read_output(json.dumps(output()))
    assert (way.direction, way.bytes, way.retransmits, cpu) == (TcpDirection.DOWN, 9, 4, 0.5)
    assert (way.limited_by, way.because) == ("path", ("loss",))
    assert (way.transfer_time_ratio, way.tcp_efficiency_percent) == (1.5, 98.0)
    assert way.buffer_delay_percent is None
    assert way.series[0][0].rtt_us == 7


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("error: 198.18.0.1: Connection refused", "Connection refused"),
        ("", "it said nothing"),
        ('{"results": [{"error": "a stream could not connect"}]}', "a stream could not connect"),
        ('{"results": [{"error": null}]}', "the server sent no verdict"),
    ],
)
def test_a_test_that_failed_says_how(text: str, says: str) -> None:
    with pytest.raises(BenchError, match=says):
        read_output(text)


def test_each_iperf3_process_has_a_port_and_a_cpu_as_in_s0() -> None:
    tcp = Tcp(tool=TcpTool.IPERF3, clients=2, processes=2, streams=4, mss=1400)
    hosts = [(FakeEnd(f"client{i}", (2, 3, 4)), f"198.18.{i}.1") for i in range(2)]
    clients = make_clients(tcp, hosts)
    ports = [client.command[client.command.index("--port") + 1] for client in clients]
    assert ports == ["5201", "5202", "5203", "5204"]
    assert [client.cpus for client in clients] == [(2,), (3,), (4,), (2,)]
    assert [client.end.name for client in clients] == ["client0"] * 2 + ["client1"] * 2
    assert len({client.log for client in clients}) == 4
    command = " ".join(clients[0].command)
    assert "--reverse" in command
    assert command.endswith(
        "--time 5 --omit 1 --parallel 4 --length 131072 --congestion cubic --set-mss 1400"
    )


def stock_output(**end: Any) -> str:
    """Return the parts of iperf3 3.12's JSON that count."""
    received = {"bytes": 9, "bits_per_second": 72.0}
    whole = {
        "sum_sent": received | {"bytes": 12, "retransmits": 4},
        "sum_received": received,
        "cpu_utilization_percent": {"host_total": 50.0, "remote_total": 98.6},
    }
    return json.dumps({"start": {}, "end": whole | end})


def test_iperf3_output_gives_received_bytes_and_an_unknown_limit() -> None:
    [way], cpu = iperf3.read_output(stock_output(), TcpDirection.DOWN)
    assert (way.direction, way.bytes, way.retransmits, cpu) == (TcpDirection.DOWN, 9, 4, 0.5)
    assert way.limited_by == "unknown"
    assert way.because[1] == "its client used 50% of a core, its server 99%"


def test_both_ways_of_iperf3_are_distinguished() -> None:
    back = {"bytes": 5, "bits_per_second": 40.0}
    text = stock_output(sum_sent_bidir_reverse=back, sum_received_bidir_reverse=back)
    ways, _ = iperf3.read_output(text, TcpDirection.BOTH)
    assert [(way.direction, way.bytes) for way in ways] == [
        (TcpDirection.UP, 9),
        (TcpDirection.DOWN, 5),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"error": "unable to connect to server"}', "iperf3 failed: unable to connect"),
        ("", "it said nothing"),
        ('{"end": {}}', "did not print a result"),
    ],
)
def test_an_iperf3_that_failed_says_how(text: str, says: str) -> None:
    with pytest.raises(BenchError, match=says):
        iperf3.read_output(text, TcpDirection.UP)
