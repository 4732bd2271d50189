# SPDX-License-Identifier: Apache-2.0
"""Check that a guest's NIC gets the point's address, queues and offloads, or an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.interface import BenchError
from wirespeed.bench.topology import tcp as topology
from wirespeed.bench.traffic.tcp.ends.guest_port import set_up_port
from wirespeed.model.study.tcp import Tcp
from wirespeed.remote.interface import Completed

TCP = Tcp(path="vhost-user", clients=2)
HOSTS = topology.hosts(TCP)
PORT = HOSTS.server_ports[0]


class FakeGuest(FakeHost):
    """A guest whose NIC has given features and queues; nothing runs."""

    name = "server"

    def __init__(self, nic: str = "eth0", queues: int = 2, fixed: str = "none") -> None:
        super().__init__({f"/sys/class/net/{nic}/address": PORT.mac + "\n",
                          "/sys/class/net/lo/address": "00:00:00:00:00:00\n"})  # fmt: skip
        self.queues, self.fixed, self.on = queues, fixed, False
        self.commands: list[str] = []

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,  # noqa: ARG002
        stdin: str | None = None,  # noqa: ARG002
        env: Mapping[str, str] | None = None,  # noqa: ARG002
        check: bool = True,  # noqa: ARG002
    ) -> Completed:
        self.commands.append(" ".join(argv))
        said = ""
        if argv[:2] == ["ethtool", "-K"]:
            self.on = argv[-1] == "on"
        if argv[:2] == ["ethtool", "-k"]:
            said = "Features for eth0:\n" + "".join(
                f"{long}: {'on' if self.on else 'off'}\n"
                for long in ("rx-checksumming", "tx-checksumming", "scatter-gather",
                             "tcp-segmentation-offload", "generic-segmentation-offload",
                             "generic-receive-offload")
            ).replace(f"{self.fixed}: on", f"{self.fixed}: off [fixed]")  # fmt: skip
        if argv[:2] == ["ethtool", "-l"]:
            table = "RX:\tn/a\nTX:\tn/a\nOther:\tn/a\nCombined:\t{}\n"
            said = ("Channel parameters for eth0:\nPre-set maximums:\n" + table.format(self.queues)
                    + "Current hardware settings:\n" + table.format(self.queues))  # fmt: skip
        return Completed(tuple(argv), 0, said, "")


def made(guest: FakeGuest, tcp: Tcp = TCP) -> list[str]:
    set_up_port(guest, PORT, HOSTS.neighbours(PORT), tcp)
    return guest.commands


def test_it_has_the_address_the_mtu_and_the_neighbours_of_the_topology() -> None:
    said = made(FakeGuest(queues=1), Tcp(path="vhost-user", clients=2, mtu=9000))
    assert f"ip address add {PORT.ip}/24 dev eth0" in said
    assert "ip link set eth0 mtu 9000 up" in said
    others = [line.split()[3] for line in said if line.startswith("ip neighbour")]
    assert others == ["198.18.0.2", "198.18.0.3"]
    assert not any(line.startswith(("ethtool -L", "tc", "ip link set eth0 name")) for line in said)


def test_the_guests_nic_is_renamed_to_eth0() -> None:
    assert "ip link set ens3 name eth0" in made(FakeGuest(nic="ens3"))


@pytest.mark.parametrize(
    ("offloads", "asked"),
    [(True, "tx on sg on tso on gso on gro on"), (False, "tx off tso off gso off gro off")],
)
def test_offloads_are_switched_both_ways(offloads: bool, asked: str) -> None:
    said = made(FakeGuest(), Tcp(path="vhost-user", clients=2, offloads=offloads))
    assert f"ethtool -K eth0 {asked}" in said


def test_queues_are_the_points_and_no_more() -> None:
    assert "ethtool -L eth0 combined 1" in made(FakeGuest(queues=4))
    said = made(FakeGuest(queues=4), Tcp(path="vhost-user", clients=2, queues=4))
    assert not any(line.startswith("ethtool -L") for line in said)


def test_a_wire_of_limited_rate_is_the_guests_own() -> None:
    said = made(FakeGuest(), Tcp(path="vhost-user", clients=2, wire_bps=1e9))
    assert said[-1].startswith("tc qdisc replace dev eth0 root tbf rate 1000000000bit")


@pytest.mark.parametrize(
    ("guest", "queues", "says"),
    [
        (FakeGuest(fixed="tcp-segmentation-offload"), 1,
         "NIC of guest server cannot have its offloads on: tcp-segmentation-offload is off .fixed"),
        (FakeGuest(queues=2), 4, "NIC of guest server has 2 queues, and tcp.queues = 4"),
    ],
)  # fmt: skip
def test_a_guest_nic_without_offloads_or_queues_is_an_error(
    guest: FakeGuest, queues: int, says: str
) -> None:
    with pytest.raises(BenchError, match=says):
        made(guest, Tcp(path="vhost-user", clients=2, queues=queues))


def test_a_guest_without_the_nic_says_which_it_has() -> None:
    guest = FakeGuest()
    guest.files["/sys/class/net/eth0/address"] = "02:00:00:00:00:99\n"
    with pytest.raises(BenchError, match=r"guest server has no NIC 02:00:00:00:01:00, but .*99"):
        made(guest)
