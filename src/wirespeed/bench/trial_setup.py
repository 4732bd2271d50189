# SPDX-License-Identifier: Apache-2.0
"""Collect what the trials of a point run on: hosts, polling threads and their watchers."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial

from wirespeed.bench.assembly.kinds import ring_frames, switch_polls
from wirespeed.bench.assembly.layout import control_plane_cpu
from wirespeed.bench.assembly.opened import OpenHost
from wirespeed.bench.assembly.parts import Assembly
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Part
from wirespeed.bench.noise.clock import ClockElsewhere
from wirespeed.bench.noise.contention import ContentionProbe, Reference
from wirespeed.bench.noise.placement import PlacementProbe
from wirespeed.bench.noise.settings import SettingsWatch
from wirespeed.bench.noise.switches import SwitchRecords
from wirespeed.bench.noise.watch import NoiseWatch
from wirespeed.bench.program.watcher import Watcher
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.bench.routing.part import LoadsRoutes
from wirespeed.bench.trial import TrialHost, TrialSetup
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.study.spec import Frames, RoutingDaemon
from wirespeed.remote.interface import Runner
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.state import state_directory


def setup_on_one_host(frames: Frames, on: OpenHost, assembly: Assembly) -> TrialSetup:
    """Set up trials in which the generator's program watches the SUT's CPUs, too."""
    plan, generator = on.place.plan, assembly.generator
    cpus = _polled(frames, plan) | _generating(plan)
    probe = ContentionProbe(generator.program, cpus, _forwarding(plan), _reference(on.host))
    watch = _watch(probe, generator.program, assembly)
    watch.shared = _shared_control(frames, plan)
    watch.control = partial(_control_plane, on.host.runner, assembly.sut)
    watch.placement = PlacementProbe.of(cpus, generator.program.placement)
    settings = SettingsWatch(on.host.runner, assembly.parts, cpus)
    host = TrialHost(
        "", on.host.runner, assembly.parts, watch, cpus, settings,
        kernel_carries=_kernel_carries(frames, assembly), forwards=_of_the_sut(plan),
    )  # fmt: skip
    return _setup(frames, assembly, (host,), _limited_by(frames, plan))


def _kernel_carries(frames: Frames, assembly: Assembly) -> bool:
    """Return whether the kernel forwards, or a program reads frames from its sockets."""
    return switch_polls(frames) is False or bool(assembly.unread)


def _limited_by(frames: Frames, plan: HostPlan) -> str | None:
    """Return who shares CPUs with the SUT, or with its functions."""
    if _shared_control(frames, plan):
        return "shared_control"
    if plan.partner is not None and _forwarding(plan) & set(plan.partner.pmd_cpus.value):
        return "shared_partner"
    shared = plan.generator is not None and bool(plan.generator.shared)
    return "shared_lcore" if shared else None


def setup_between(
    frames: Frames, generator: OpenHost, sut: OpenHost, assembly: Assembly, watcher: Watcher
) -> TrialSetup:
    """Set up trials in which a second program watches the SUT's host."""
    program, there = assembly.generator.program, watcher.program
    own, cpus = _generating(generator.place.plan), _polled(frames, sut.place.plan)
    near_probe = ContentionProbe(
        program, own, frozenset(), _reference(generator.host), host=generator.host.name
    )
    far_probe = ContentionProbe(
        there, cpus, _forwarding(sut.place.plan), _reference(sut.host), host=sut.host.name
    )
    near, far = _watch(near_probe, program, assembly), _watch(far_probe, there, assembly)
    far.shared = _shared_control(frames, sut.place.plan)
    far.control = partial(_control_plane, sut.host.runner, assembly.sut)
    near.placement = PlacementProbe.of(own, program.placement, generator.host.name)
    far.placement = PlacementProbe.of(cpus, there.placement, sut.host.name)
    kernel = _kernel_carries(frames, assembly)
    hosts = (
        TrialHost(
            sut.host.name, sut.host.runner, (*assembly.sut, watcher), far, cpus,
            SettingsWatch(sut.host.runner, assembly.sut, cpus, sut.host.name),
            ClockElsewhere(program, there), kernel_carries=kernel,
            forwards=_of_the_sut(sut.place.plan),
        ),
        TrialHost(
            generator.host.name, generator.host.runner, (assembly.generator,), near, own,
            SettingsWatch(generator.host.runner, (assembly.generator,), own, generator.host.name),
            kernel_carries=kernel,
        ),
    )  # fmt: skip
    limited_by = "shared_control" if far.shared else None
    return _setup(frames, assembly, hosts, limited_by)


def _forwarding(plan: HostPlan) -> frozenset[int]:
    """Return the CPUs that the SUT forwards on."""
    found = {cpu for guest in plan.guests for cpu in (guest.floats_over or guest.cpus).value}
    if plan.vswitch is not None:
        found |= set(plan.vswitch.pmd_cpus.value)
    return frozenset(found)


def _shared_control(frames: Frames, plan: HostPlan) -> frozenset[int]:
    """Return the CPUs that the SUT forwards on and its control plane works on in trials."""
    routing = frames.routing
    if routing is None or (routing.daemon is RoutingDaemon.STATIC and not routing.churn_per_s):
        return frozenset()
    return _forwarding(plan) & {control_plane_cpu(frames, plan)}


def _control_plane(runner: Runner, parts: Sequence[Part]) -> frozenset[int]:
    """Return the threads of the programs of routers that do not poll: daemons, wsdp's own."""
    routers = [part for part in parts if isinstance(part, LoadsRoutes)]
    pids = {pid for part in routers for pid in part.programs}
    polling = {poller.tid for part in parts for poller in part.pollers()}
    paths = runner.glob(*(f"/proc/{pid}/task/[0-9]*" for pid in pids))
    return frozenset(int(path.rpartition("/")[2]) for path in paths) - polling


def _of_the_sut(plan: HostPlan) -> frozenset[int]:
    """Return the CPUs that the SUT forwards on; none where the generator polls one of them."""
    found = _forwarding(plan)
    return frozenset() if found & _generating(plan) else found


def _polled(frames: Frames, plan: HostPlan) -> frozenset[int]:
    """Return the SUT's CPUs that threads poll on."""
    found = _forwarding(plan)
    if switch_polls(frames) is False:
        # Softirqs also interrupt the probe: it would mistake the SUT's own work for another user.
        found -= set(plan.vswitch.pmd_cpus.value if plan.vswitch is not None else ())
    return found


def _generating(plan: HostPlan) -> frozenset[int]:
    found = set(plan.generator.cpus.value if plan.generator is not None else ())
    if plan.partner is not None:
        found |= set(plan.partner.pmd_cpus.value) - _forwarding(plan)
    return frozenset(found)


def _watch(probe: ContentionProbe, program: Wsdp, assembly: Assembly) -> NoiseWatch:
    """Return a watch without a placement probe."""
    return NoiseWatch(
        probe,
        SwitchRecords(program),
        None,
        sut_unknown=not assembly.wiring.cables,
        tsc_invariant=bool(program.ask("info")["tsc_invariant"]),
    )


def _reference(host: Host) -> Reference:
    """Return the best result of the SMT contention probe, which a file keeps for each host."""
    where = "" if host.is_local else "-" + re.sub(r"\W+", "-", host.runner.address)
    return Reference.open(LocalRunner(), f"{state_directory(os.environ)}/contention{where}.json")


def _setup(
    frames: Frames, assembly: Assembly, hosts: tuple[TrialHost, ...], limited_by: str | None
) -> TrialSetup:
    held = ring_frames(frames)
    return TrialSetup(
        hosts,
        assembly.wiring,
        assembly.generator,
        held,
        held * assembly.wiring.rings,
        limited_by,
        assembly.unread,
    )
