# SPDX-License-Identifier: Apache-2.0
"""Check the errors of TCP points that cannot have guests or virtual functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.study.test_load import faults, write
from wirespeed.bench.topology.tcp import virtual_functions
from wirespeed.model.study.spec import Guest, Sriov, TcpStreams
from wirespeed.model.study.tcp import Tcp, TcpGuests, TcpPinning
from wirespeed.store.codec import encode
from wirespeed.store.workloads import decode_workload
from wirespeed.study.load import load_study


def test_hosts_of_a_test_are_guests_with_the_table_of_all_guests(tmp_path: Path) -> None:
    text = """
    [tcp]
    path = "vhost-user"
    guests = "all"
    pinning = "on-pmd"
    [guest]
    vcpus = 4
    """
    [point] = load_study(write(tmp_path, text)).points
    tcp = Tcp(path="vhost-user", guests=TcpGuests.ALL, pinning=TcpPinning.ON_PMD)
    assert point.workload == TcpStreams(tcp, guest=Guest(4))
    assert point.parameters["guest"]["vcpus"] == 4


def test_virtual_functions_are_of_the_nic_that_the_study_names(tmp_path: Path) -> None:
    text = 'tcp.path = "sriov"\nsut.ports = ["0000:3b:00.0"]\nsriov.first_vlan = 7'
    [point] = load_study(write(tmp_path, text)).points
    wanted = TcpStreams(Tcp(path="sriov"), ports=("0000:3b:00.0",), sriov=Sriov(first_vlan=7))
    assert point.workload == wanted
    assert point.parameters["sut"] == {"ports": ["0000:3b:00.0"]}
    assert decode_workload(encode(wanted)) == wanted
    vfs = virtual_functions(wanted)
    assert {host: (vf.mac, vf.vlan) for host, vf in vfs.items()} == {
        "server": ("02:00:00:00:01:00", 7), "client0": ("02:00:00:00:01:01", 7),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ('tcp.path = "sriov"', "sut.ports", "needs the NIC whose virtual functions"),
        ('tcp.path = "sriov"\nsut.ports = ["eth0"]', "sut.ports", "by PCI address"),
        ('tcp.path = "sriov"\nsut.ports = ["0000:3b:00.0", "0000:3b:00.1"]', "sut.ports", "NIC"),
        ('tcp.path = "veth"\nsut.ports = ["0000:3b:00.0"]', "sut.ports", "does not apply"),
        ('tcp.path = "veth"\n[sriov]\nqos = 1', "sriov", "has no virtual functions"),
        ('tcp.path = "sriov"\n[guest]\nvcpus = 2', "guest", "has no guests"),
        ('tcp.guests = "all"', "tcp.guests", 'path = "veth" has no guests'),
        ('tcp.path = "ovs"\ntcp.pinning = "on-pmd"', "tcp.pinning", "has no guests"),
        ('tcp.path = "tap"\ntcp.pinning = "on-pmd"', "tcp.pinning", "has no PMD threads"),
        ('tcp.path = "bridge"\n[guest]\nvcpus = 2', "guest", 'path = "bridge" has no guests'),
        ('tcp.path = "tap"\ntcp.queues = 4\n[guest]\nvcpus = 2', "tcp.queues", "at most: 2"),
        ('tcp.path = "vhost-user"\ntcp.queues = 9', "tcp.queues", "at most: 8"),
        ('tcp.path = "vhost-user"\nsut.vswitch.rx_queues = 2', "sut.vswitch.rx_queues", "tcp.q"),
    ],
)
def test_conflicting_tcp_guest_keys_are_an_error_of_the_key(
    tmp_path: Path, text: str, key: str, said: str
) -> None:
    assert said in faults(tmp_path, text)[key]
