# SPDX-License-Identifier: Apache-2.0
"""Make the hosts of a TCP test, each of the type that the point asks for."""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.bench.guest.interface import Guests
from wirespeed.bench.guest.overlay import Tap
from wirespeed.bench.guest.part import GuestSetup
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.network import Network
from wirespeed.bench.host.vf import give_vfs_to_kernel
from wirespeed.bench.interface import BenchError
from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.topology import tcp as topology
from wirespeed.bench.topology.plugs import VirtioUser
from wirespeed.bench.traffic.tcp.ends.guest import GuestEnd
from wirespeed.bench.traffic.tcp.ends.interface import End
from wirespeed.bench.traffic.tcp.ends.namespace import NamespaceEnd
from wirespeed.bench.traffic.tcp.ends.virtual_function import VfEnd
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.study.spec import TcpStreams

# Name in the plan of the CPUs that clients outside virtual machines share.
CLIENTS = "clients"


def make_ends(
    streams: TcpStreams, host: Host, dirs: Directories, plan: HostPlan, guests: Guests | None
) -> Mapping[str, End]:
    """Return every host of the point, by name, without starting a guest.

    Raises BenchError, and BadInput for a NIC that is unavailable.
    """
    tcp = streams.tcp
    vfs = _virtual_functions(streams, host)
    planned = {guest.name: guest for guest in plan.guests}
    sockets = _sockets(streams, dirs, plan)
    namespace = Network(host, dirs.tag).namespace(topology.SWITCH)
    ends: dict[str, End] = {}
    for name in topology.host_names(tcp):
        mine = planned.get(name) or planned[CLIENTS]
        if name in vfs:
            ends[name] = VfEnd(name, tcp, host, dirs, mine.cpus.value, interface=vfs[name])
            continue
        if not mine.vcpus:
            ends[name] = NamespaceEnd(name, tcp, host, dirs, mine.cpus.value)
            continue
        if guests is None:
            raise BenchError(f"host {name} of the TCP test is a guest, and there are none here")
        plugged = {port.mac: sockets.get(name) or Tap(name) for port in mine.ports}
        taps = None if name in sockets else namespace
        ends[name] = GuestEnd(tcp, host, dirs, GuestSetup(mine, guests, plugged, taps))
    return ends


def _virtual_functions(streams: TcpStreams, host: Host) -> Mapping[str, str]:
    """Return the interface of each host's virtual function, made here where the path has some."""
    if not topology.PATHS[streams.tcp.path].on_vfs:
        return {}
    wanted, [pf] = topology.virtual_functions(streams), streams.ports
    made = give_vfs_to_kernel(host, pf, tuple(wanted.values()), streams.tcp.mtu)
    return dict(zip(wanted, made, strict=True))


def _sockets(streams: TcpStreams, dirs: Directories, plan: HostPlan) -> Mapping[str, str]:
    """Return the vhost-user socket of each port of the switch that has one."""
    path = topology.PATHS[streams.tcp.path]
    if path.switch is None or plan.vswitch is None:
        return {}
    wiring = topology.switch_wiring(streams.tcp)
    plugs = SWITCHES[path.switch].plugs(streams.vswitch, wiring, plan.vswitch, dirs)
    return {port: plug.socket for port, plug in plugs.items() if isinstance(plug, VirtioUser)}
