# SPDX-License-Identifier: Apache-2.0
"""Reach the hosts that a study names, by a testbed file; without one, use this host."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from wirespeed.bench.assembly.hosts import BenchHost, BenchHosts
from wirespeed.bench.assembly.hosts import check_hosts as check_reached
from wirespeed.bench.assembly.kinds import needs_of, topology_of
from wirespeed.bench.host.root import check_root, effective_user
from wirespeed.bench.interface import Bench
from wirespeed.bench.session import open_bench
from wirespeed.bench.topology.wiring import PORTS
from wirespeed.host.collect import collect
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.lab import Lab, LabHost, is_pci
from wirespeed.model.plan.plan import Plan
from wirespeed.model.study.spec import Frames, Workload
from wirespeed.model.study.study import Study
from wirespeed.plan.testbed.bench import plan_bench, plan_between
from wirespeed.remote.fence import fenced
from wirespeed.remote.interface import LOCALHOST, Runner
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.reach import reach
from wirespeed.remote.state import state_directory
from wirespeed.session import rig as rigs
from wirespeed.study.interface import Rig
from wirespeed.study.lab import check_hosts, load_lab
from wirespeed.study.needs import without_lab


@contextmanager
def rig_for(study: Study, lab_file: Path | None, fence: int | None = None) -> Iterator[Rig]:
    """Yield what the study runs on.

    fence: token of our lease, which its hosts are shown first. Raises BadInput with all that is
    wrong with the testbed file or its hosts, and Fenced.
    """
    lab = None if lab_file is None else load_lab(lab_file)
    points = study.points if lab is not None else without_lab(study.points)
    workloads = [point.workload for point in points]
    names = check_hosts(workloads, lab, study.name)
    if lab is None:
        with _fenced([LocalRunner()], fence):
            yield rigs.local_rig()
        return
    if not names:
        raise BadInput(
            f"--lab {lab_file}: no point of study {study.name} names a host",
            "Leave out --lab, or add a table [hosts] with generator and sut to the study.",
        )
    with ExitStack() as stack:
        hosts = _opened(lab, names, workloads, stack)
        stack.enter_context(_fenced([host.bench.runner for host in hosts.values()], fence))
        yield _rig(hosts, workloads)


def testbed_for(study: Study, lab_file: Path | None, *, is_named: bool) -> Path | None:
    """Return the testbed file; None where it is a default that no point of the study needs."""
    wanted = is_named or any(point.workload.roles.generator for point in study.points)
    return lab_file if wanted else None


@contextmanager
def _fenced(runners: Sequence[Runner], token: int | None) -> Iterator[None]:
    """Lock the hosts in one order for all users, so that no two of them deadlock."""
    with ExitStack() as stack:
        if token is not None:
            for runner in sorted(runners, key=lambda one: one.address):
                stack.enter_context(fenced(runner, token))
        yield


@dataclass(frozen=True, slots=True)
class _LabHost:
    """A connected host of the testbed."""

    bench: BenchHost
    facts: HostFacts
    """As collected now, under the host's name in the testbed file."""
    user: str

    @property
    def pci_ports(self) -> tuple[str, ...]:
        return tuple(device for device in self.bench.ports.values() if is_pci(device))


def _opened(
    lab: Lab, names: tuple[str, ...], workloads: list[Workload], stack: ExitStack
) -> Mapping[str, _LabHost]:
    cabled = {
        name
        for each in workloads
        if (frames := each.frames) is not None and not topology_of(frames).external
        for name in (frames.hosts.generator, frames.hosts.sut)
    }
    found = {name: _bench_host(name, lab.hosts[name], name in cabled, stack) for name in names}
    check_reached(tuple(found.values()), lab.source)
    return {
        name: _LabHost(
            host, replace(collect(host.runner), host=name), effective_user(host.runner)
        )
        for name, host in found.items()
    }  # fmt: skip


def _bench_host(name: str, host: LabHost, cabled: bool, stack: ExitStack) -> BenchHost:
    runner = stack.enter_context(reach(host.ssh or LOCALHOST, name))
    named = [port for port in PORTS if port in host.ports] if cabled else []
    ports = {port: host.ports[port] for port in named}
    return BenchHost(runner, ports, host.wsdp)


def _rig(hosts: Mapping[str, _LabHost], workloads: list[Workload]) -> Rig:
    """Build the rig for points that name hosts, and for others, which this machine measures."""
    local = rigs.local_rig()

    def planned(workload: Workload) -> Plan:
        roles, frames = workload.roles, workload.frames
        if frames is None or roles.generator is None:
            return local.plan(workload)
        generator, needs = hosts[roles.generator], needs_of(frames)
        if roles.sut is None:
            plan = plan_bench(generator.facts, frames, needs)
        else:
            sut = hosts[roles.sut]
            plan = plan_between(
                generator.facts, sut.facts, frames, needs,
                generator_ports=generator.pci_ports, sut_ports=sut.pci_ports,
            )  # fmt: skip
            check_root(sut.user, frames, plan.sut_host)
        check_root(generator.user, frames, plan.generator_host)
        return plan

    def opened(frames: Frames, plan: Plan, name: str) -> AbstractContextManager[Bench]:
        roles = frames.hosts
        if roles.generator is None:
            return local.open_bench(frames, plan, name)
        generator = hosts[roles.generator].bench
        if roles.sut is None:
            on = BenchHosts(replace(generator, ports={}))
        else:
            on = BenchHosts(generator, hosts[roles.sut].bench)
        return open_bench(frames, plan, on, state_directory(os.environ) / "logs" / name)

    measured = {roles.sut or roles.generator: None for roles in (each.roles for each in workloads)}
    facts = [hosts[name].facts for name in measured if name is not None]
    others = [host.facts for host in hosts.values() if host.facts not in facts]
    first, *rest = [*facts, *others]
    return Rig(first, planned, opened, local.open_own, tuple(rest), len(hosts))
