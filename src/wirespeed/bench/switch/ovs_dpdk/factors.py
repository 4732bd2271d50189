# SPDX-License-Identifier: Apache-2.0
"""Which settings of Open vSwitch do a study's factors stand for, and since which version?

ovs-vswitchd.conf.db(5). Open vSwitch ignores a setting that it does not know, so the version is
checked. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle

from wirespeed.bench.switch.ovs_dpdk import routes
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.model.fault import Fault
from wirespeed.model.frame import Encapsulation, FlowField
from wirespeed.model.spec import (
    BondMode,
    Frames,
    Ovs,
    PortMemory,
    Roles,
    RxqAssign,
    VlanTranslation,
    Workload,
)

# In the order of the table: what a factor needs where it is not at its default.
_SINCE: Mapping[str, tuple[int, int]] = {
    "smc": (2, 10),
    "memory": (2, 10),
    "auto_lb": (2, 11),
    "pmd_max_sleep_us": (3, 1),
}
_GROUP_SINCE = (2, 16)


def other_config(ovs: Ovs) -> Mapping[str, str]:
    """Of the whole switch; nothing for what is at its default."""
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
        # Its name before version 3.2, and since.
        found["pmd-maxsleep"] = found["pmd-sleep-max"] = str(ovs.pmd_max_sleep_us)
    if ovs.memory is PortMemory.PER_PORT:
        found["per-port-memory"] = "true"
    return found


def affinities(
    ovs: Ovs, ports: Sequence[SwitchPort], cpus: Sequence[int], queues: int
) -> Mapping[str, str]:
    """pmd-rxq-affinity of each port whose queues are pinned: queue by queue to the CPUs in turn."""
    if ovs.rxq_assign is not RxqAssign.PINNED:
        return {}
    turns = cycle(cpus)
    return {
        link.name: ",".join(f"{queue}:{next(turns)}" for queue in range(queues))
        for port in ports
        for link in port.links
        if link.kind != "system"
    }


def faults(ovs: Ovs, workload: Workload) -> Iterator[Fault]:
    """What Open vSwitch would ignore, or cannot do to such frames."""
    if ovs.auto_lb and ovs.rxq_assign not in (RxqAssign.CYCLES, RxqAssign.GROUP):
        allowed = 'needs sut.vswitch.ovs.rxq_assign = "cycles" or "group"'
        yield Fault("sut.vswitch.ovs.auto_lb", True, allowed)
    if ovs.local_vlan_id != Ovs().local_vlan_id and ovs.vlan is not VlanTranslation.REWRITE:
        allowed = 'goes with sut.vswitch.ovs.vlan = "rewrite"'
        yield Fault("sut.vswitch.ovs.local_vlan_id", ovs.local_vlan_id, allowed)
    if ovs.vlan is not VlanTranslation.NONE and isinstance(workload, Frames):
        yield from _translation_faults(ovs, workload)
    if ovs.routes:
        yield from routes.faults(ovs, workload)
    if ovs.bond is not BondMode.NONE:
        yield from _bond_faults(ovs, workload)


def _bond_faults(ovs: Ovs, workload: Workload) -> Iterator[Fault]:
    """The partner is a program on this host, and its links are virtual."""
    key, bond = "sut.vswitch.ovs.bond", str(ovs.bond)
    if not isinstance(workload, Frames):
        yield Fault(key, bond, "needs frames: leave out [tcp]")
    elif workload.hosts != Roles() or workload.sut.ports:
        yield Fault(key, bond, "joins virtual ports of one host: leave out [hosts] and sut.ports")


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


def lacking(ovs: Ovs, answer: str) -> str | None:
    """What this Open vSwitch is too old for; answer: what it says of its version."""
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
