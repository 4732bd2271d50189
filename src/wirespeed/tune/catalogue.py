# SPDX-License-Identifier: Apache-2.0
"""List the factors of the switch, the network function and the guest that may bind at a point.

Each has one other level: the first of its candidates that differs from the study's own value. A
factor that cannot bind is excluded with the reason. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wirespeed.bench.assembly.kinds import switch_of, topology_of
from wirespeed.model.plan.plan import Plan
from wirespeed.model.study.ovs import OvsPorts, RxqAssign
from wirespeed.model.study.spec import Frames
from wirespeed.model.study.study import flat
from wirespeed.study.expand import parameters
from wirespeed.tune.factor import Factor, Needs, NotTried


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    key: str
    levels: tuple[Any, ...]
    """Levels worth a trial, the preferred first."""
    needs: Needs
    cannot_bind: Callable[[Frames, Plan], str | None] = lambda _frames, _plan: None
    """Returns why the factor cannot bind at the point, or None."""


def _pmds(plan: Plan) -> int:
    switch = plan.sut_host.vswitch
    return 0 if switch is None else len(switch.pmd_cpus.value)


def _no_ovs(frames: Frames, _plan: Plan) -> str | None:
    kind = switch_of(frames)
    return None if kind is not None and kind.name == "ovs-dpdk" else "there is no Open vSwitch"


def _no_switch(frames: Frames, _plan: Plan) -> str | None:
    return None if switch_of(frames) is not None else "there is no switch"


def _not_polled(frames: Frames, plan: Plan) -> str | None:
    if (why := _no_ovs(frames, plan)) is not None:
        return why
    polled = frames.sut.vswitch.ovs.ports.polled
    return None if polled else "no PMD thread polls the ports"


def _one_pmd(frames: Frames, plan: Plan) -> str | None:
    if (why := _not_polled(frames, plan)) is not None:
        return why
    if _pmds(plan) < 2:
        return "one PMD thread polls all receive queues: there is nothing to assign"
    return None


def _one_mtu(frames: Frames, plan: Plan) -> str | None:
    if (why := _no_ovs(frames, plan)) is not None:
        return why
    if frames.sut.vswitch.ovs.ports is not OvsPorts.VHOST_USER:
        return "the ports have no shared pools of buffers"
    return None


def _no_function(frames: Frames, _plan: Plan) -> str | None:
    return None if topology_of(frames).functions(frames) else "there is no VNF"


def _no_process(frames: Frames, plan: Plan) -> str | None:
    if (why := _no_function(frames, plan)) is not None:
        return why
    own = any(guest.process is not None for guest in plan.sut_host.guests)
    return None if own else "the VNF has no process of its own here"


def _no_guest(frames: Frames, _plan: Plan) -> str | None:
    return None if frames.sut.vnf.placement == "guest" else "the VNF runs in no guest"


_CANDIDATES = (
    _Candidate("descriptors", "sut.vswitch.descriptors", (1024, 256), Needs.SWITCH, _no_switch),
    _Candidate("receive queues", "sut.vswitch.rx_queues", (1, 2), Needs.SWITCH, _no_ovs),
    _Candidate("EMC", "sut.vswitch.ovs.emc", (True, False), Needs.SWITCH, _not_polled),
    _Candidate("SMC", "sut.vswitch.ovs.smc", (False, True), Needs.SWITCH, _not_polled),
    _Candidate(
        "queue assignment", "sut.vswitch.ovs.rxq_assign",
        (str(RxqAssign.GROUP), str(RxqAssign.CYCLES)), Needs.SWITCH, _one_pmd,
    ),
    _Candidate("PMD sleep", "sut.vswitch.ovs.pmd_max_sleep_us", (0,), Needs.SWITCH, _not_polled),
    _Candidate(
        "port memory", "sut.vswitch.ovs.memory", ("shared", "per-port"), Needs.SWITCH, _one_mtu
    ),
    _Candidate("page size", "sut.vswitch.ovs.pages", ("1G", "2M"), Needs.SWITCH, _no_ovs),
    _Candidate("VNF pages", "sut.vnf.pages", ("huge",), Needs.FUNCTION, _no_process),
    _Candidate("VNF threads", "sut.vnf.threads", ("pinned",), Needs.FUNCTION, _no_process),
    _Candidate("guest pages", "guest.pages", ("huge",), Needs.GUEST, _no_guest),
    _Candidate("emulator threads", "guest.emulator", ("apart",), Needs.GUEST, _no_guest),
)  # fmt: skip


def catalogue(frames: Frames, plan: Plan) -> tuple[Sequence[Factor], Sequence[NotTried]]:
    """Return the factors that may bind at the point, and the others with the reason."""
    values = flat(parameters(frames))
    tried: list[Factor] = []
    excluded: list[NotTried] = []
    for each in _CANDIDATES:
        if (why := each.cannot_bind(frames, plan)) is not None:
            excluded.append(NotTried(each.name, why))
            continue
        now = values.get(each.key)
        other = next((level for level in each.levels if level != now), None)
        if other is None:
            excluded.append(NotTried(each.name, f"it is {now} already, the fastest level known"))
        else:
            tried.append(Factor(each.name, {each.key: other}, each.needs))
    return tried, excluded
