# SPDX-License-Identifier: Apache-2.0
"""Check what wirespeed can do in the place it runs in, by the checks of the verbs themselves."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from wirespeed.apply.target import open_target
from wirespeed.bench.assembly.ready import lacking
from wirespeed.bench.host.container import in_container
from wirespeed.bench.host.root import effective_user
from wirespeed.cloud.live import check_client
from wirespeed.host.collect import collect
from wirespeed.image.build import check_builder
from wirespeed.lab.machine import MEMORY_GIB, MachineSpec
from wirespeed.lab.needs import check as check_lab
from wirespeed.model.errors import WirespeedError
from wirespeed.model.host.facts import HostFacts
from wirespeed.plan.render.libvirt import bench_domains
from wirespeed.predict.regression import check_solver
from wirespeed.remote.interface import LOCALHOST, Runner
from wirespeed.remote.reach import reach
from wirespeed.remote.state import state_directory
from wirespeed.session.guests import GuestSource
from wirespeed.session.rig import plan_of
from wirespeed.store.store import check_postgresql
from wirespeed.study.load import load_study

# Studies that between them need every kind of program and privilege.
STUDIES = ("wire", "quickstart", "guest", "s0-speedtest")
_OFFLINE = "inspect, audit, plan, predict, report, explain, compare"


@dataclass(frozen=True, slots=True)
class Ability:
    """Something that a user may want to do here, with the errors that it would end with."""

    name: str
    lacks: tuple[WirespeedError, ...] = ()


@dataclass(frozen=True, slots=True)
class Where:
    """Place that wirespeed runs in."""

    user: str
    container: bool
    system: str
    """Distribution and its version, from os-release(5)."""
    python: str
    cpus: int
    """CPUs that wirespeed may use."""


def abilities(runner: Runner, studies: Sequence[str]) -> tuple[Where, tuple[Ability, ...]]:
    """Return the place and what works there. Changes nothing. Raises BadInput for a study.

    studies: names or files of the studies to check; none: STUDIES and all other verbs.
    """
    facts = collect(runner)
    usable = sum(cpu.online and cpu.allowed for cpu in facts.cpus)
    user, container = effective_user(runner), in_container(runner)
    where = Where(user, container, _system(), platform.python_version(), usable)
    points = tuple(_study(runner, facts, name) for name in studies or STUDIES)
    return where, points if studies else (Ability(_OFFLINE), *points, *_others(runner))


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux without /etc/os-release"


def _study(runner: Runner, facts: HostFacts, name: str) -> Ability:
    """Check every point of a study; an error that several points share is named once."""
    found: dict[str, WirespeedError] = {}
    for point in load_study(name).points:
        try:
            plan = plan_of(facts, point.workload)
            faults = list(lacking(runner, point.workload, plan.sut_host))
            if not faults and bench_domains(plan):
                GuestSource(runner).find_image()
        except WirespeedError as fault:
            faults = [fault]
        found.update((each.next_step, each) for each in reversed(faults))
    return Ability(f"run {name}", tuple(found.values()))


def _others(runner: Runner) -> Iterator[Ability]:
    spec = MachineSpec("lab1", 1, 8, MEMORY_GIB, 0)
    checks: Sequence[tuple[str, Callable[[], Any]]] = (
        ("--host ssh://HOST", partial(runner.run, ["ssh", "-V"])),
        ("apply, rollback here", _check_apply),
        ("image build", partial(check_builder, runner)),
        ("lab up", partial(check_lab, runner, [spec], state_directory(os.environ).parent)),
        ("--openstack CLOUD", check_client),
        ("--store postgresql://", check_postgresql),
        ("predict fit", check_solver),
    )
    for name, check in checks:
        try:
            check()
        except WirespeedError as fault:
            yield Ability(name, (fault,))
        else:
            yield Ability(name)


def _check_apply() -> None:
    with open_target(reach, LOCALHOST):
        pass
