# SPDX-License-Identifier: Apache-2.0
"""Map a study's factors to Open vSwitch settings, with the version that each needs.

See ovs-vswitchd.conf.db(5). Open vSwitch ignores an unknown setting, so the version is checked.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import cycle

from wirespeed.bench.switch.ovs_dpdk import routes
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.bench.switch.veth.rules import veth_faults
from wirespeed.model.frame import Encapsulation, FlowField
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.ovs import (
    BondMode,
    Ovs,
    OvsPorts,
    PortMemory,
    RxqAssign,
    VlanTranslation,
)
from wirespeed.model.study.spec import (
    Frames,
    Roles,
    Vswitch,
    Workload,
)

# First version that supports a non-default value, in the order of the study's table.
_SINCE: Mapping[str, tuple[int, int]] = {
    "smc": (2, 10),
    "memory": (2, 10),
    "auto_lb": (2, 11),
    "pmd_max_sleep_us": (3, 1),
}
_GROUP_SINCE = (2, 16)
_PORTS = "sut.vswitch.ovs.ports"
# Settings of PMD threads.
_PMD_THREADS = ("rxq_assign", "auto_lb", "pmd_max_sleep_us")


def other_config(ovs: Ovs) -> Mapping[str, str]:
    """Return the switch's other_config; empty where all factors have their defaults."""
    found: dict[str, str] = {}
    if not ovs.emc:
        found["emc-insert-inv-prob"] = "0"
    if ovs.smc:
        found["smc-enable"] = "true"
    if ovs.rxq_assign not in (RxqAssign.CYCLES, RxqAssign.PINNED):
        found["pmd-rxq-assign"] = str(ovs.rxq_assign)
    if ovs.auto_lb:
        found["pmd-auto-lb"] = "true"
    if ovs.pmd_max_sleep_us:
        found |= sleeps(ovs.pmd_max_sleep_us)
    if ovs.memory is PortMemory.PER_PORT:
        found["per-port-memory"] = "true"
    return found


def sleeps(at_most_us: int) -> Mapping[str, str]:
    """Return the setting that lets PMD threads sleep, under its names before and since 3.2."""
    return dict.fromkeys(("pmd-maxsleep", "pmd-sleep-max"), str(at_most_us))


def affinities(
    ovs: Ovs, ports: Sequence[SwitchPort], cpus: Sequence[int], queues: int
) -> Mapping[str, str]:
    """Return the pmd-rxq-affinity of each port with pinned queues.

    Queues are assigned to the CPUs in turn.
    """
    if ovs.rxq_assign is not RxqAssign.PINNED:
        return {}
    turns = cycle(cpus)
    return {
        link.name: ",".join(f"{queue}:{next(turns)}" for queue in range(queues))
        for port in ports
        for link in port.links
        if link.polled
    }


def faults(vswitch: Vswitch, workload: Workload) -> Iterator[Fault]:
    """Yield what Open vSwitch would ignore, or cannot do to such frames."""
    ovs, frames = vswitch.ovs, workload.frames
    if ovs.auto_lb and ovs.rxq_assign not in (RxqAssign.CYCLES, RxqAssign.GROUP):
        allowed = 'needs sut.vswitch.ovs.rxq_assign = "cycles" or "group"'
        yield Fault("sut.vswitch.ovs.auto_lb", True, allowed)
    if ovs.local_vlan_id != Ovs().local_vlan_id and ovs.vlan is not VlanTranslation.REWRITE:
        allowed = 'goes with sut.vswitch.ovs.vlan = "rewrite"'
        yield Fault("sut.vswitch.ovs.local_vlan_id", ovs.local_vlan_id, allowed)
    if ovs.vlan is not VlanTranslation.NONE and frames is not None:
        yield from _translation_faults(ovs, frames)
    if vswitch.driver is not Vswitch().driver and not ovs.ports.on_veth:
        allowed = f"needs ports that are interfaces of the kernel: {_PORTS} says so"
        yield Fault("sut.vswitch.driver", str(vswitch.driver), allowed)
    if ovs.ports.on_veth and frames is not None:
        yield from _veth_faults(vswitch, frames)
    if ovs.routes:
        yield from routes.faults(ovs, workload)
    if ovs.bond is not BondMode.NONE:
        yield from _bond_faults(ovs, frames)


def _bond_faults(ovs: Ovs, frames: Frames | None) -> Iterator[Fault]:
    """Check a bond: its partner is a program on this host, and its links are virtual."""
    key, bond = "sut.vswitch.ovs.bond", str(ovs.bond)
    if frames is None:
        yield Fault(key, bond, "needs frames: leave out [tcp]")
    elif frames.hosts != Roles() or frames.sut.ports:
        yield Fault(key, bond, "joins virtual ports of one host: leave out [hosts] and sut.ports")


def _veth_faults(vswitch: Vswitch, frames: Frames) -> Iterator[Fault]:
    """Check ports that are kernel interfaces."""
    ovs = vswitch.ovs
    yield from veth_faults(_PORTS, str(ovs.ports), vswitch, frames)
    if ovs.bond is not BondMode.NONE:
        yield Fault("sut.vswitch.ovs.bond", str(ovs.bond), f'needs {_PORTS} = "vhost-user"')
    if not ovs.ports.polled:
        usual = Ovs()
        for key in _PMD_THREADS:
            if (value := getattr(ovs, key)) != getattr(usual, key):
                allowed = (
                    f'needs PMD threads; with {_PORTS} = "{ovs.ports}" the main thread forwards'
                )
                yield Fault(f"sut.vswitch.ovs.{key}", value, allowed)


def _translation_faults(ovs: Ovs, frames: Frames) -> Iterator[Fault]:
    key, vlan, traffic = "sut.vswitch.ovs.vlan", str(ovs.vlan), frames.traffic
    if ovs.bridges == 1:
        yield Fault(key, vlan, "needs sut.vswitch.ovs.bridges = 2")
    if traffic.encapsulation is not Encapsulation.VLAN or traffic.flow_field is FlowField.VLAN:
        yield Fault(key, vlan, 'needs traffic.encapsulation = "vlan" with one tag for all flows')
    if frames.topology.kind == "p2p" and frames.topology.bidirectional:
        allowed = (
            "with p2p needs one direction: the generator's second port is on the second bridge"
        )
        yield Fault(key, vlan, allowed)


def lacking(ovs: Ovs, answer: str, types: Collection[str]) -> str | None:
    """Return what this Open vSwitch is too old for, or was built without.

    answer: its version output. types: port types that it has.
    """
    if ovs.ports is OvsPorts.AF_XDP and "afxdp" not in types:
        return f'{_PORTS} = "{ovs.ports}" needs an Open vSwitch that was built with AF_XDP'
    found = re.search(r"(\d+)\.(\d+)", answer)
    if found is None:
        return None
    version = (int(found[1]), int(found[2]))
    usual = Ovs()
    wanted = {f"{key} = {getattr(ovs, key)}": since for key, since in _SINCE.items()
              if getattr(ovs, key) != getattr(usual, key)}  # fmt: skip
    if ovs.rxq_assign is RxqAssign.GROUP:
        wanted["rxq_assign = group"] = _GROUP_SINCE
    for what, since in wanted.items():
        if version < since:
            return f"sut.vswitch.ovs.{what} needs Open vSwitch {since[0]}.{since[1]}; here is " + (
                f"{version[0]}.{version[1]}"
            )
    return None
