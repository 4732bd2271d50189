# SPDX-License-Identifier: Apache-2.0
"""Give each key of a proposed change its next value at a point.

An explainer names the keys. The value is the next one that the point and its host support.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from wirespeed.explain.interface import Measured
from wirespeed.explain.next_value import UNKNOWN, Next, Refusal
from wirespeed.explain.tcp_changes import TCP_NEXT
from wirespeed.model.host.facts import Cpu, HostFacts
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.result.explanation import Explanation, KeyChange
from wirespeed.model.study.spec import MAX_DESCRIPTORS, Frames, Vswitch
from wirespeed.model.units import mtu_for

_MAX_QUEUES = _MAX_WORKERS = 16
_LINK_SPEEDS_BPS = (10e9, 25e9, 40e9, 100e9, 400e9)
_FEWER_FLOWS = 10

BY_HAND = (
    "no key of a study does it: do it by hand, run the study again and say "
    "`wirespeed compare RUN latest`"
)
# Reasons for changes that need a reboot, or another host.
_REBOOT = (
    "it needs isolated CPUs, which take a reboot (wirespeed plan, wirespeed apply), and on a "
    "virtual machine a hypervisor that pins its CPUs"
)
_OTHER_HOST = "it needs a host with more cores: run the same study there, then compare both runs"
WHY_NOT = {
    "shared_lcore": _OTHER_HOST,
    "shared_control": _OTHER_HOST,
    "generator": _OTHER_HOST,
    "tg_rx_ring_full": _OTHER_HOST,
    "vhost_tx_ring_full": _OTHER_HOST,
    "vnf_rx_ring_full": _OTHER_HOST,
    "core_to_core_latency": _REBOOT,
    "smt_siblings": _REBOOT,
    "pmd_core_shared": _REBOOT,
    "sut_interrupted": _REBOOT,
    "generator_core_shared": _REBOOT,
    "generator_interrupted": _REBOOT,
    "generator_slow": _OTHER_HOST,
    "steal": _OTHER_HOST,
    "slow_vnf": _OTHER_HOST,
    "core_contention": _REBOOT,
    "emulated": "it needs another host, one with KVM",
}


def with_values(point: Measured, found: Explanation) -> Explanation:
    """Return the explanation with the values that a study can try, and why it cannot try others."""
    proposal = found.proposal
    if proposal is None or proposal.keys or proposal.cannot_try is not None:
        return found
    named = [key for key in _KEY.findall(proposal.setting or "") if key in NEXT]
    values = {key: NEXT[key](point) for key in named}
    keys = tuple(KeyChange(k, v) for k, v in values.items() if not isinstance(v, Refusal))
    refused = [f"{k}: {v.why}" for k, v in values.items() if isinstance(v, Refusal)]
    if not named:
        refused = [WHY_NOT.get(found.limit, BY_HAND)]
    cannot = "; ".join(refused) or None
    return replace(found, proposal=replace(proposal, keys=keys, cannot_try=cannot))


_KEY = re.compile(r"[a-z]+(?:\.[a-z_]+)+")


def _of_frames(next_value: Callable[[Measured, Frames], Next]) -> Callable[[Measured], Next]:
    def checked(point: Measured) -> Next:
        frames = point.frames
        return UNKNOWN if frames is None else next_value(point, frames)

    return checked


def _doubled(value: int, most: int) -> Next:
    return 2 * value if 2 * value <= most else Refusal(f"{value}, and {most} is the most")


def _pmd_cpus(point: Measured, _frames: Frames) -> tuple[int, ...] | Refusal:
    """Add a CPU of a core that the bench does not use."""
    plan = point.plan.sut_host if point.plan is not None else None
    if plan is None or plan.vswitch is None or point.host is None:
        return Refusal("not known which CPUs it has")
    if plan.host != point.host.host:
        return Refusal(f"not known which CPUs {plan.host} has")
    free = [cpu.id for cpu in _free_cpus(point.host, frozenset(_used(plan)))]
    if not free:
        return Refusal(f"{plan.host} has no core left for a further one")
    return (*plan.vswitch.pmd_cpus.value, free[0])


def _rx_queues(point: Measured, frames: Frames) -> Next:
    """Add queues where PMD threads would be without one.

    Where none would, a further queue is only more for the same threads to poll: on two CPUs it cost
    pvp 33 to 45% of its rate.
    """
    queues, cpus = frames.sut.vswitch.rx_queues, _pmd_cpus(point, frames)
    if isinstance(cpus, Refusal):
        vswitch = point.plan.sut_host.vswitch if point.plan is not None else None
        if vswitch is None:
            return cpus
        cpus = vswitch.pmd_cpus.value
    if queues >= len(cpus):
        return Refusal("every PMD thread has a queue of each port already")
    return _doubled(queues, _MAX_QUEUES)


def _used(plan: HostPlan) -> Iterator[int]:
    """Yield the CPUs of a bench."""
    if plan.vswitch is not None:
        yield from plan.vswitch.pmd_cpus.value
    if plan.generator is not None:
        yield from (*plan.generator.cpus.value, plan.generator.control_cpu.value)
    if plan.control_cpu is not None:
        yield plan.control_cpu.value
    for guest in plan.guests:
        yield from guest.cpus.value


def _free_cpus(host: HostFacts, used: frozenset[int]) -> list[Cpu]:
    """Return CPUs of fully idle cores; a sibling of a used CPU would take its time."""
    usable = [cpu for cpu in host.cpus if cpu.online and cpu.allowed]
    return [cpu for cpu in usable if not used & {cpu.id, *cpu.siblings}]


def _mtu(frames: Frames) -> Next:
    return mtu_for(max(frames.wire_bytes), frames.traffic.encapsulation.tags)


def _flows(frames: Frames) -> Next:
    flows = frames.traffic.flows
    return max(1, flows // _FEWER_FLOWS) if flows > 1 else Refusal("one flow is the least")


def _link_bps(frames: Frames) -> Next:
    if not frames.nominal_link:
        return Refusal("it needs a faster NIC and link")
    faster = [bps for bps in _LINK_SPEEDS_BPS if bps > frames.traffic.link_bps]
    return faster[0] if faster else Refusal("no faster link is known")


def _max_load_fps(frames: Frames) -> Next:
    load_fps = frames.search.max_load_fps
    return 2 * load_fps if load_fps is not None else Refusal("it was not set")


def _spoofchk(frames: Frames) -> Next:
    on = frames.sriov is None or frames.sriov.spoofchk
    return False if on else Refusal("it is off already")


def _ports(frames: Frames) -> Next:
    vswitch, usual = frames.sut.vswitch, Vswitch()
    if not vswitch.ovs.ports.on_veth:
        return Refusal("it is vhost-user already")
    if vswitch.driver is not usual.driver:
        return Refusal(f'sut.vswitch.driver = "{vswitch.driver}" goes with it: leave both out')
    return str(usual.ovs.ports)


NEXT: dict[str, Callable[[Measured], Next]] = {
    "sut.vswitch.pmd_cpus": _of_frames(_pmd_cpus),
    "sut.vswitch.rx_queues": _of_frames(_rx_queues),
    "sut.vswitch.descriptors": _of_frames(
        lambda _, frames: _doubled(frames.sut.vswitch.descriptors, MAX_DESCRIPTORS)
    ),
    "sut.vswitch.ovs.ports": _of_frames(lambda _, frames: _ports(frames)),
    "sut.vswitch.mtu": _of_frames(lambda _, frames: _mtu(frames)),
    "sut.vnf.workers": _of_frames(lambda _, frames: _doubled(frames.sut.vnf.workers, _MAX_WORKERS)),
    "traffic.flows": _of_frames(lambda _, frames: _flows(frames)),
    "traffic.link_bps": _of_frames(lambda _, frames: _link_bps(frames)),
    "search.max_load_fps": _of_frames(lambda _, frames: _max_load_fps(frames)),
    "sriov.spoofchk": _of_frames(lambda _, frames: _spoofchk(frames)),
    **TCP_NEXT,
}
