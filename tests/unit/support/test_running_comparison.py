# SPDX-License-Identifier: Apache-2.0
"""Test that every difference of a running guest from its plan is found, without a guest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.cloud.true_compute.boot_sector import SAYS, boot_sector
from tests.cloud.true_compute.running import RunningGuest, Vf, VhostPort, huge_pages, peer_of
from tests.cloud.true_compute.running_comparison import compared
from tests.support.apply_plans import lab_plan

PLAN = lab_plan()
GUEST = PLAN.hosts[0].guests[0]
[OUT, IN] = GUEST.ports
assert GUEST.emulator_cpus
assert OUT.device
VF = Vf("0000:21:10.0", OUT.device.value.partition("/vf")[0], OUT.mac, 50, "vfio-pci")
VHOST = VhostPort(IN.mac, "/var/lib/vhost_sockets/vhu1", None, "ovs-vswitchd")
AS_PLANNED = RunningGuest(
    vcpus={vcpu: (cpu,) for node in GUEST.nodes for vcpu, cpu in node.pins},
    others=tuple(sorted(GUEST.emulator_cpus.value)),
    huge_mib={node.node: node.memory_mib for node in GUEST.nodes},
    page_kib=GUEST.nodes[0].page_kib,
    vhost=(VHOST,),
    vfs=(VF,),
)
# What a kernel says of a guest's memory, of a library, and of a guest on two nodes.
MAPS = """\
7f00a0000000 bind:1 file=/dev/hugepages/libvirt/qemu/1-i/ram huge dirty=256 N1=256 \
kernelpagesize_kB=2048
7f00c0000000 default file=/usr/lib/libc.so.6 mapped=9 N0=9 kernelpagesize_kB=4
"""


def differing(seen: RunningGuest) -> list[str]:
    return [line.what for line in compared(PLAN, GUEST, seen) if not line.same]


def test_all_as_planned() -> None:
    assert differing(AS_PLANNED) == []


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"vcpus": {0: (0, 1), 1: (0, 1)}}, "CPUs of the vCPUs' threads"),
        ({"vcpus": {}}, "CPUs of the vCPUs' threads"),
        ({"others": (0,)}, "CPUs of all other threads"),
        ({"huge_mib": {7: 1024}}, "MiB of huge pages by node"),
        ({"huge_mib": {}}, "MiB of huge pages by node"),
        ({"page_kib": 4}, "page size in KiB"),
        ({"vhost": ()}, "port in: VLAN, program at its socket"),
        ({"vhost": (replace(VHOST, wire_vlan=7),)}, "port in: VLAN, program at its socket"),
        ({"vhost": (replace(VHOST, peer=""),)}, "port in: VLAN, program at its socket"),
        ({"vfs": ()}, "port out: PF, VLAN, driver"),
        ({"vfs": (replace(VF, vlan=0),)}, "port out: PF, VLAN, driver"),
        ({"vfs": (replace(VF, driver="igbvf"),)}, "port out: PF, VLAN, driver"),
        ({"vfs": (replace(VF, pf="0000:22:00.0"),)}, "port out: PF, VLAN, driver"),
    ],
)
def test_each_difference_is_seen(changed: dict[str, object], what: str) -> None:
    assert differing(replace(AS_PLANNED, **changed)) == [what]


def test_huge_pages_are_counted_where_they_are() -> None:
    assert huge_pages(MAPS) == ({1: 512}, 2048)
    assert huge_pages(MAPS.replace("N1=256", "N0=128 N1=128")) == ({0: 256, 1: 256}, 2048)
    assert huge_pages("") == ({}, 0)


SOCKETS = """\
u_str LISTEN 0 1 /run/virtlogd.sock 11 * 0 users:(("virtlogd",pid=7,fd=3))
u_str ESTAB 0      0      /var/lib/vhost_sockets/vhu1 27671 * 26528  users:(("qemu",pid=9,fd=12))
u_str ESTAB 0      0      * 26528 * 27671  users:(("ovs-vswitchd",pid=5,fd=30))
"""


def test_peer_of_socket_is_the_connected_program() -> None:
    assert peer_of(SOCKETS, VHOST.socket) == "ovs-vswitchd"
    assert peer_of(SOCKETS, "/var/lib/vhost_sockets/vhu2") == ""
    assert peer_of(SOCKETS.replace("* 26528 * 27671", "* 26529 * 27672"), VHOST.socket) == ""


def test_the_boot_sector_is_one() -> None:
    """That it runs, a guest shows; that a BIOS starts it, its size and mark do."""
    sector = boot_sector()
    assert len(sector) == 512
    assert sector.endswith(b"\x55\xaa")
    assert SAYS.encode() in sector
