# SPDX-License-Identifier: Apache-2.0
"""Which points with TCP traffic cannot have guests, and what is said of each?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.study.test_load import faults, write
from wirespeed.model.spec import Guest, TcpStreams
from wirespeed.model.tcp import Tcp, TcpGuests, TcpPinning
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


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ('tcp.guests = "all"', "tcp.guests", 'path = "veth" has no guests'),
        ('tcp.path = "ovs"\ntcp.pinning = "on-pmd"', "tcp.pinning", "has no guests"),
        ('tcp.path = "tap"\ntcp.pinning = "on-pmd"', "tcp.pinning", "has no PMD threads"),
        ('tcp.path = "bridge"\n[guest]\nvcpus = 2', "guest", 'path = "bridge" has no guests'),
        ('tcp.path = "tap"\ntcp.queues = 4\n[guest]\nvcpus = 2', "tcp.queues", "at most: 2"),
        ('tcp.path = "vhost-user"\ntcp.queues = 9', "tcp.queues", "at most: 8"),
        ('tcp.path = "vhost-user"\nsut.vswitch.rx_queues = 2', "sut.vswitch.rx_queues", "tcp.q"),
    ],
)
def test_what_cannot_go_together_is_said_of_the_key(
    tmp_path: Path, text: str, key: str, said: str
) -> None:
    assert said in faults(tmp_path, text)[key]
