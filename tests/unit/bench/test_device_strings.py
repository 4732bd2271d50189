# SPDX-License-Identifier: Apache-2.0
"""Check that device strings and socket paths keep the limits of DPDK and Linux."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from tests.unit.plan.test_bench import host
from wirespeed.bench.assembly.kinds import switch_of, topology_of
from wirespeed.bench.assembly.layout import Place, Places, lay_out
from wirespeed.bench.assembly.parts import site_of
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.interface import BenchError
from wirespeed.bench.placement.process import ProcessLaunch
from wirespeed.bench.program import device
from wirespeed.bench.program.attachment import PortSettings, attach
from wirespeed.bench.program.dpdk import telemetry_socket
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort, partner_ports, program_ports
from wirespeed.bench.topology.plugs import Device, VhostUser, VirtioUser
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.study.spec import Frames
from wirespeed.remote.interface import RemoteError
from wirespeed.remote.socket_paths import SOCKET_BASE_MAX, SOCKET_PATH_MAX
from wirespeed.session.rig import plan_of
from wirespeed.study.load import load_study
from wirespeed.study.shipped import shipped_names

# Longest path of a run directory.
RUN = PurePosixPath("/" + "b" * (SOCKET_BASE_MAX - 1)) / "wirespeed-abcd1234"
DIRS = Directories(RUN, PurePosixPath("/log"), "abcd1234")
# Octets that wsdp reads of a value of its INI file.
INI_VALUE_MAX = 254


def frames_of(study: str) -> list[Frames]:
    workloads = {repr(point.workload): point.workload for point in load_study(study).points}
    return [small(each) for each in workloads.values() if isinstance(each, Frames)]


def small(spec: Frames) -> Frames:
    """Return the point with few routes: a full table takes seconds, and is in no device string."""
    if spec.routing is None:
        return spec
    few = replace(
        spec.routing, ipv4=min(1000, spec.routing.ipv4), ipv6=min(1000, spec.routing.ipv6)
    )
    return replace(spec, routing=few)


def places_of(spec: Frames) -> tuple[Places, HostPlan]:
    plan = plan_of(host(nodes=2, cores=20), spec).hosts[0]
    functions = topology_of(spec).virtual_functions(spec)
    place = Place(plan, DIRS, {each.port: Device("0000:3b:10.7") for each in functions})
    return Places(place, place), plan


def switch_ports(spec: Frames, places: Places, plan: HostPlan) -> Iterator[SwitchPort]:
    if plan.vswitch is None or spec.sut.vswitch.kind != "ovs-dpdk" or switch_of(spec) is None:
        return
    wiring = site_of(spec, places).wiring
    wanted = spec.sut.vswitch.ovs.ports
    for port in program_ports(wiring, plan.vswitch, RUN, wanted=wanted):
        yield from port.links
    for port in partner_ports(wiring, plan.vswitch, RUN / "partner"):
        yield from port.links


@pytest.mark.parametrize("study", shipped_names())
def test_device_strings_of_shipped_studies_fit_the_longest_run_directory(study: str) -> None:
    for spec in frames_of(study):
        places, plan = places_of(spec)
        layout = lay_out(site_of(spec, places))
        apart = [each for each in layout.launches if isinstance(each, ProcessLaunch)]
        processes = [layout.traffic, *(each.process for each in apart)]
        for process in processes:
            assert len(telemetry_socket(RUN, process.file_prefix)) <= SOCKET_PATH_MAX
            for port in process.ports:
                assert len(port.device) <= INI_VALUE_MAX
                assert len(port.connects_to or port.serves_at or "") <= SOCKET_PATH_MAX
        for each in switch_ports(spec, places, plan):
            assert len(each.options.get("dpdk-devargs", "")) <= device.PROBED_MAX
            assert len(each.socket) <= SOCKET_PATH_MAX


def test_probed_border_is_127_octets() -> None:
    longest = "net_null0," + "x" * (device.PROBED_MAX - len("net_null0,"))
    assert len(longest) == 127
    assert device.probed("port east", longest) == longest
    with pytest.raises(BenchError) as caught:
        device.probed("port east", longest + "x")
    assert caught.value.what.startswith(
        "port east: its device string has 128 octets, DPDK takes 127: net_null0,"
    )


@pytest.mark.parametrize("plug", [VirtioUser, VhostUser])
def test_attach_socket_border_is_107_octets(plug: type[VirtioUser] | type[VhostUser]) -> None:
    settings, longest = PortSettings(1, 1024, 1500), "/" + "s" * 106
    attached = attach(plug(longest), "east", 0, "02:00:00:00:00:00", settings)
    assert attached.port is not None
    assert longest in attached.port.device
    with pytest.raises(RemoteError, match=r"^net_v\w+0: the path of its socket has 108 octets"):
        attach(plug(longest + "s"), "east", 0, "02:00:00:00:00:00", settings)


@pytest.mark.parametrize("kind", ["p2p", "pvp"])
def test_program_ports_long_run_directory_is_refused_by_name(kind: str) -> None:
    spec = next(each for each in frames_of("quickstart") if each.topology.kind == kind)
    places, plan = places_of(spec)
    wiring = site_of(spec, places).wiring
    assert plan.vswitch is not None
    with pytest.raises((BenchError, RemoteError), match=r"^(net_vhost1|port \w+): ") as caught:
        program_ports(wiring, plan.vswitch, PurePosixPath("/" + "r" * 300))
    assert "XDG_RUNTIME_DIR" in caught.value.next_step
