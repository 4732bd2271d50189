# SPDX-License-Identifier: Apache-2.0
"""Test that QEMU's arguments describe the requested server."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.lab.machine import (
    CABLES,
    MachineFiles,
    MachineSpec,
    check_size,
    command,
    port_address,
)
from wirespeed.model.cpuset import parse_list
from wirespeed.model.errors import BadInput

SPEC = MachineSpec("lab1", 1, 8, 3, 40022)


def words(spec: MachineSpec) -> list[str]:
    sockets = {c: (Path(f"../{c}-{spec.name}"), Path(f"../{c}-other")) for c in CABLES}
    given_files = {"opt/wirespeed/hostname": Path("name,of")}
    files = MachineFiles(Path("b"), Path("r"), Path("c"), Path("p"), given_files, sockets)
    return command(spec, files)


def values(argv: list[str], option: str) -> list[str]:
    return [value for word, value in itertools.pairwise(argv) if word == option]


@given(cpus=st.sampled_from([4, 8, 12, 16]), memory=st.integers(3, 64))
def test_each_socket_is_a_node_with_half_of_the_cpus(cpus: int, memory: int) -> None:
    argv = words(MachineSpec("lab1", 1, cpus, memory, 40022))
    nodes = [value for value in values(argv, "-numa") if value.startswith("node")]
    of = [parse_list(value.split("cpus=")[1].split(",")[0]) for value in nodes]
    assert [len(each) for each in of] == [cpus // 2, cpus // 2]
    assert sorted([*of[0], *of[1]]) == list(range(cpus))
    assert values(argv, "-smp") == [f"{cpus},sockets=2,cores={cpus // 4},threads=2"]
    assert values(argv, "-m") == [f"{2 * memory}G"]
    sizes = [v.split("size=")[1] for v in values(argv, "-object")]
    assert sizes == [f"{memory}G", f"{memory}G"]


def test_two_nodes_differ_in_every_mac_and_meet_on_each_cable() -> None:
    other = MachineSpec("lab2", 2, 8, 3, 40023)
    one, two = words(SPEC), words(other)

    def macs(argv: list[str]) -> set[str]:
        return {v.split("mac=")[1] for v in values(argv, "-device") if "mac=" in v}

    assert len(macs(one)) == 1 + len(CABLES)
    assert not macs(one) & macs(two)
    netdevs = [value for value in values(one, "-netdev") if value.startswith("dgram")]
    assert [v.split("local.path=")[1].split(",")[0] for v in netdevs] == [
        "../east-lab1", "../west-lab1",
    ]  # fmt: skip


def test_nothing_listens_but_sshd_on_the_loopback() -> None:
    argv = words(SPEC)
    assert [value for value in argv if "hostfwd" in value] == [
        "user,id=management,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:40022-:22"
    ]
    assert not {"-vnc", "-qmp", "-gdb", "-s"} & set(argv)


def test_a_comma_in_a_path_does_not_end_it() -> None:
    assert values(words(SPEC), "-fw_cfg") == ["name=opt/wirespeed/hostname,file=name,,of"]


def test_ports_are_on_buses_of_their_own_in_the_order_of_the_slots() -> None:
    assert [port_address(cable) for cable in CABLES] == ["0000:21:00.0", "0000:22:00.0"]
    slots = [v for v in values(words(SPEC), "-device") if v.startswith("pcie-root-port")]
    assert [v.split("slot=")[1] for v in slots] == ["1", "2"]


@pytest.mark.parametrize("cpus", [0, 2, 6, 20, -4])
def test_a_number_of_cpus_that_is_no_two_sockets_is_refused(cpus: int) -> None:
    with pytest.raises(BadInput, match=f"--cpus {cpus}:"):
        check_size(cpus, 4)


def test_too_little_memory_for_a_large_page_is_refused() -> None:
    with pytest.raises(BadInput, match="--memory 3:"):
        check_size(8, 3)
