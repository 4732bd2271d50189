# SPDX-License-Identifier: Apache-2.0
"""Test which interfaces a host needs, for every kind of interface below a session."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tests.hosts.fake_runner import FakeRunner
from wirespeed.host.needed_interfaces import has_remote_login, needed_interfaces

SS = ("ss", "-Htnp", "state", "established")
SSHD = 'users:(("sshd",pid=71,fd=4),("sshd",pid=70,fd=4))'


def host(
    sockets: str = "",
    addresses: Mapping[str, str] | None = None,
    routes: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
) -> FakeRunner:
    """Return a host with these sockets.

    addresses: address to its interface. routes: peer to the interface towards it.
    """
    fake = FakeRunner(files={"/proc/net/route": "", "/proc/net/ipv6_route": "", **(files or {})})
    fake.answer(SS, sockets)
    fake.answer(("sh", "-c", "echo $PPID"), "90\n")
    shown = [{"ifname": name, "addr_info": [{"local": address}]}
             for address, name in (addresses or {}).items()]  # fmt: skip
    fake.answer(("ip", "-json", "address", "show"), json.dumps(shown))
    for peer, name in (routes or {}).items():
        fake.answer(("ip", "-json", "route", "get", peer), json.dumps([{"dev": name}]))
    return fake


def ssh(local: str, peer: str, holders: str = SSHD) -> str:
    return f"0 0 {local}:22 {peer}:50000 {holders}\n"


def test_needed_interfaces_ssh_session_under_sudo_is_found() -> None:
    fake = host(ssh("10.0.0.1", "10.0.0.9"), {"10.0.0.1": "eno1"}, {"10.0.0.9": "eno1"})
    assert needed_interfaces(fake) == {"eno1": "an ssh session from 10.0.0.9"}
    assert has_remote_login(fake)


def test_needed_interfaces_answers_by_another_interface_are_both_needed() -> None:
    fake = host(ssh("10.0.0.1", "10.0.0.9"), {"10.0.0.1": "eno1"}, {"10.0.0.9": "eno2"})
    assert set(needed_interfaces(fake)) == {"eno1", "eno2"}


def test_needed_interfaces_bond_below_vlan_below_bridge_is_needed() -> None:
    files = {f"/sys/class/net/{name}": "" for name in (
        "br0/lower_bond0.7", "bond0.7/lower_bond0", "bond0/lower_eno1", "bond0/lower_eno2",
        "other/lower_eno3",
    )}  # fmt: skip
    fake = host(ssh("10.0.0.1", "10.0.0.9"), {"10.0.0.1": "br0"}, {"10.0.0.9": "br0"}, files=files)
    assert set(needed_interfaces(fake)) == {"br0", "bond0.7", "bond0", "eno1", "eno2"}


def test_needed_interfaces_vf_of_a_session_needs_its_pf() -> None:
    files = {"/sys/class/net/eno1v0/device/physfn/net/eno1": ""}
    fake = host(
        ssh("10.0.0.1", "10.0.0.9"), {"10.0.0.1": "eno1v0"}, {"10.0.0.9": "eno1v0"}, files=files
    )
    assert set(needed_interfaces(fake)) == {"eno1v0", "eno1"}


def test_needed_interfaces_open_vswitch_bridge_needs_the_datapath_ports() -> None:
    fake = host(
        ssh("10.0.0.1", "10.0.0.9"), {"10.0.0.1": "br-ex"}, {"10.0.0.9": "br-ex"},
        files={"/sys/class/net/ovs-system": ""},
    )  # fmt: skip
    links = [
        {"ifname": "br-ex", "linkinfo": {"info_kind": "openvswitch"}},
        {"ifname": "eno1", "master": "ovs-system"},
        {"ifname": "eno2"},
    ]
    fake.answer(("ip", "-json", "-details", "link", "show"), json.dumps(links))
    assert set(needed_interfaces(fake)) == {"br-ex", "eno1"}


def test_needed_interfaces_ipv6_session_is_found() -> None:
    fake = host(
        ssh("[2001:db8::1]", "[2001:db8::9]"), {"2001:db8::1": "eno1"}, {"2001:db8::9": "eno1"}
    )
    assert needed_interfaces(fake) == {"eno1": "an ssh session from 2001:db8::9"}


def test_needed_interfaces_link_local_and_mapped_addresses_are_understood() -> None:
    sockets = ssh("[fe80::1]%eno1", "[fe80::9]%eno1") + ssh(
        "[::ffff:10.0.0.1]", "[::ffff:10.0.0.9]"
    )
    fake = host(sockets, {"10.0.0.1": "eno2"}, {"10.0.0.9": "eno2"})
    assert needed_interfaces(fake) == {
        "eno1": "an ssh session from fe80::9", "eno2": "an ssh session from 10.0.0.9",
    }  # fmt: skip


def test_needed_interfaces_any_port_and_login_server_above_us_is_a_session() -> None:
    # This command runs below process 80, which holds the connection, below sudo and a shell.
    files = {"/proc/90/stat": "90 (a) b) S 85 1", "/proc/85/stat": "85 (sudo) S 80 1",
             "/proc/80/stat": "80 (teleport) S 1 1"}  # fmt: skip
    sockets = '0 0 10.0.0.1:3022 10.0.0.9:50000 users:(("teleport",pid=80,fd=9))\n'
    fake = host(sockets, {"10.0.0.1": "eno1"}, {"10.0.0.9": "eno1"}, files=files)
    assert needed_interfaces(fake) == {"eno1": "a session of teleport from 10.0.0.9"}


def test_needed_interfaces_tmux_that_outlived_its_session_needs_nothing() -> None:
    # Only existing connections count: tmux keeps SSH_CONNECTION after the session has ended.
    fake = host('0 0 10.0.0.1:43210 10.0.0.9:443 users:(("curl",pid=5,fd=3))\n')
    assert needed_interfaces(fake) == {}
    assert not has_remote_login(fake)


def test_needed_interfaces_session_of_the_host_to_itself_needs_nothing() -> None:
    fake = host(ssh("10.0.0.1", "10.0.0.1"), {"10.0.0.1": "eno1"}, {"10.0.0.1": "lo"})
    assert needed_interfaces(fake) == {}
    assert not has_remote_login(fake)


def test_needed_interfaces_management_address_and_agents_are_needed() -> None:
    sockets = '0 0 10.1.0.1:40000 10.1.0.9:6443 users:(("kubelet",pid=5,fd=3))\n'
    fake = host(
        sockets, {"10.1.0.1": "eno3", "10.2.0.1": "eno4"}, {"10.1.0.9": "eno3"},
        files={"/etc/nova/nova.conf": "[DEFAULT]\nmy_ip = 10.2.0.1\n"},
    )  # fmt: skip
    assert needed_interfaces(fake) == {
        "eno3": "kubelet's connection to 10.1.0.9",
        "eno4": "Nova's management address 10.2.0.1",
    }
    assert not has_remote_login(fake)


def test_needed_interfaces_without_root_port_22_is_ssh() -> None:
    fake = host(ssh("10.0.0.1", "10.0.0.9", ""), {"10.0.0.1": "eno1"}, {"10.0.0.9": "eno1"})
    assert needed_interfaces(fake) == {"eno1": "an ssh session from 10.0.0.9"}
