# SPDX-License-Identifier: Apache-2.0
"""Check that a guest gets the wiring's virtual functions, and that counters are read inside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pytest

from tests.support.nic import PF, with_nic
from tests.unit.bench.fake_host import FakeHost
from tests.unit.bench.fake_nic import PCI, FakeNic, vf_address
from tests.unit.plan.test_bench import host
from wirespeed.bench.assembly.kinds import topology_of
from wirespeed.bench.assembly.layout import Place, Places, lay_out
from wirespeed.bench.assembly.nic import nic_switch
from wirespeed.bench.assembly.parts import site_of
from wirespeed.bench.guest import inside
from wirespeed.bench.guest.overlay import GuestPort, Vf
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import BenchError
from wirespeed.bench.switch.nic import part
from wirespeed.bench.topology.plugs import Device
from wirespeed.bench.traffic.tcp.ends.no_function import NoFunction
from wirespeed.model.study.spec import Frames, Sut, Topology, Vnf
from wirespeed.session.rig import plan_of

DIRS = Directories(PurePosixPath("/run/outside"), PurePosixPath("/log"), "abcd1234")


@dataclass
class Inside(NoFunction):
    """A stand-in for a guest that is up."""

    inside: tuple[FakeHost, PurePosixPath]
    name = "vnf0"


def test_counters_of_its_program_are_asked_for_in_the_guest(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    nic = FakeNic()
    nic.make(4)
    nic.files |= {f"{PCI}/{vf_address(number)}/physfn": f"{PCI}/{PF}" for number in range(4)}
    frames = Frames(Topology("sriov"), sut=Sut(vnf=Vnf(placement="guest"), ports=(PF,)))
    wanted = topology_of(frames).virtual_functions(frames)
    ports = {each.port: Device(vf_address(number)) for number, each in enumerate(wanted)}
    place = Place(plan_of(with_nic(host(cores=8)), frames).hosts[0], DIRS, ports)
    places = Places(place, place)
    layout = lay_out(site_of(frames, places))
    asked = []
    macs = [each.settings.mac for each in wanted]
    # A program's ports as DPDK numbers them, by the directory of its sockets.
    own = {"/run/outside": [macs[3], macs[0]], "/run/inside": macs[1:3]}

    class Asked:
        def __init__(self, runner: object, socket: str) -> None:
            self.where = (runner, socket)

        def ask(self, command: str) -> Any:
            ports = next(ports for path, ports in own.items() if path in self.where[1])
            what, _, number = command.partition(",")
            if what == "/ethdev/list":
                return list(range(len(ports)))
            if what == "/ethdev/info":
                return {"name": "0000:00:10.0", "mac_addr": ports[int(number)].upper()}
            asked.append((*self.where, command))
            return dict.fromkeys(("opackets", "ipackets", "imissed"), 0)

        def close(self) -> None: ...

    monkeypatch.setattr(part, "Telemetry", Asked)
    guest, here = FakeHost({}), Host(nic, tmp_path, None)  # type: ignore[arg-type]
    apart = [Inside((guest, PurePosixPath("/run/inside")))]
    switch = nic_switch(frames, places, layout, here, here, apart=apart)
    switch.up()
    switch.begin()
    within = "/run/inside/dpdk/vnf0abcd1234/dpdk_telemetry.v2"
    outside = "/run/outside/dpdk/tgabcd1234/dpdk_telemetry.v2"
    assert asked == [
        (nic, outside, "/ethdev/stats,1"), (guest, within, "/ethdev/stats,0"),
        (guest, within, "/ethdev/stats,1"), (nic, outside, "/ethdev/stats,0"),
    ]  # fmt: skip


def test_a_vf_is_found_where_the_domain_has_put_it() -> None:
    """The guest's kernel has no driver that would report the MAC address of the first."""
    ports: dict[str, GuestPort] = {"02:00:00:00:00:01": Vf("0000:3b:10.1", 0x10),
                                   "02:00:00:00:00:02": "/run/x.sock"}  # fmt: skip
    virtio = "/sys/class/net/eth0"
    guest = FakeHost({
        f"{PCI}/0000:00:10.0": "", f"{virtio}/address": "02:00:00:00:00:02\n",
        f"{virtio}/device": "../../../0000:01:00.0/virtio1",
    })  # fmt: skip
    assert inside.nics(guest, ports) == {
        "02:00:00:00:00:01": "0000:00:10.0", "02:00:00:00:00:02": "0000:01:00.0",
    }  # fmt: skip
    del guest.files[f"{PCI}/0000:00:10.0"]
    with pytest.raises(BenchError, match=r"no device 0000:00:10.0, the VF 02:00:00:00:00:01"):
        inside.nics(guest, ports)
