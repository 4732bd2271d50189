# SPDX-License-Identifier: Apache-2.0
"""Check whether a point's bench could come up on a host, and change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from wirespeed.bench.assembly.kinds import switch_of
from wirespeed.bench.guest.libvirt import check_programs
from wirespeed.bench.host.container import check_page_limit, check_quota
from wirespeed.bench.host.hugepages import check_reservable
from wirespeed.bench.host.programs import program_version
from wirespeed.bench.host.root import check_namespaces, check_root, effective_user
from wirespeed.bench.program.wsdp import WSDP
from wirespeed.bench.routing.programs import check_daemon
from wirespeed.bench.traffic.tcp.programs import SPEEDTEST
from wirespeed.model.errors import WirespeedError
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.study.spec import Workload
from wirespeed.remote.interface import Runner


def lacking(runner: Runner, workload: Workload, plan: HostPlan) -> Iterator[WirespeedError]:
    """Yield each error that the bench of this point would end with, by the checks it makes."""
    for check in _checks(runner, workload, plan):
        try:
            check()
        except WirespeedError as fault:
            yield fault


def _checks(runner: Runner, workload: Workload, plan: HostPlan) -> Iterator[Callable[[], object]]:
    user, frames = effective_user(runner), workload.frames
    if frames is None:
        yield partial(check_namespaces, user, workload.subject)
        yield partial(program_version, runner, WSDP)
        yield partial(program_version, runner, SPEEDTEST)
    else:
        yield partial(check_root, user, frames, plan)
        yield partial(program_version, runner, WSDP)
        if (switch := switch_of(frames)) is not None:
            yield partial(switch.check, runner)
        if frames.routing is not None:
            yield partial(check_daemon, runner, frames.routing)
    if any(guest.vcpus for guest in plan.guests):
        yield partial(check_programs, runner)
    yield partial(check_reservable, runner, plan.huge_pages.value)
    yield partial(check_page_limit, runner, plan)
    yield partial(check_quota, runner, plan)
