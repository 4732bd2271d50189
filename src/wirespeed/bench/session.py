# SPDX-License-Identifier: Apache-2.0
"""How is a bench opened, used and closed, so that nothing is left behind?"""

from __future__ import annotations

import logging
import os
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from wirespeed.bench.dpdk import Directories
from wirespeed.bench.host_state import (
    HostState,
    changing_host,
    terminated_like_interrupted,
    tidy_up,
)
from wirespeed.bench.hugepages import reserved
from wirespeed.bench.interface import Bench, BenchError
from wirespeed.bench.journal import state_directory
from wirespeed.bench.noise.contention import ContentionProbe, Reference
from wirespeed.bench.noise.placement import PlacementProbe
from wirespeed.bench.noise.switches import SwitchRecords
from wirespeed.bench.noise.watch import NoiseWatch
from wirespeed.bench.parts import Assembly, assemble, bring_up
from wirespeed.bench.pci import give_ports_to_dpdk
from wirespeed.bench.priority import polling_first
from wirespeed.bench.root import check_root, effective_user
from wirespeed.bench.trial import Rig, run_trial
from wirespeed.model.plan import HostPlan, Plan
from wirespeed.model.spec import PointSpec, TopologyKind
from wirespeed.model.trial import Observation
from wirespeed.remote.interface import Runner

log = logging.getLogger("wirespeed.bench")

# A path is open when so many frames/s pass it without loss, twice running.
_PROBE_FPS, _PROBE_S, _OPEN_S = 10_000.0, 0.1, 20.0
# What the SMT contention probe found at best, session by session.
_REFERENCE = "contention.json"
# Leaves room for "/wirespeed-TAG/dpdk/vnf0TAG/dpdk_telemetry.v2".
_RUN_BASE_MAX = 50


class RealBench:
    """A bench on a host. Made by open_bench alone."""

    def __init__(self, rig: Rig, description: Mapping[str, object]) -> None:
        self.rig = rig
        self._description = description

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        """See interface.Bench."""
        return run_trial(self.rig, load_fps, duration_s)

    def describe(self) -> Mapping[str, object]:
        return self._description

    def await_open(self, lossless: bool) -> None:
        """Wait until the path is open.

        lossless: whether an open path loses nothing at a low load. A vSwitch reconfigures itself
        for seconds after its links come up, and loses frames meanwhile.
        """
        deadline = time.monotonic() + _OPEN_S
        passed = 0
        while passed < 2:
            seen = self.measure(_PROBE_FPS, _PROBE_S)
            received, offered = seen.total("received"), seen.total("offered")
            whole = received + seen.handled == offered
            passed = passed + 1 if whole or (received and not lossless) else 0
            if passed < 2 and time.monotonic() > deadline:
                where = ", ".join(f"{d.frames} at {d.hop} ({d.cause})" for d in seen.drops)
                raise BenchError(
                    f"the path does not open: of {offered} frames at {_PROBE_FPS:g} frames/s, "
                    f"{received} arrived; missing: {where}",
                    "Check that what lies between the ports forwards to their MAC addresses."
                    if not lossless
                    else "The logs of all programs are in the run directory.",
                )


@contextmanager
def open_bench(spec: PointSpec, plan: Plan, runner: Runner, run_dir: Path) -> Iterator[Bench]:
    """Bring up the bench of this point; when the context ends, everything is undone.

    run_dir: where logs and configuration files are left. What earlier runs that were killed left on
    this host is removed first. Raises BenchError when a part cannot be brought up.
    """
    host_plan = plan.hosts[0]
    with (
        terminated_like_interrupted(),
        changing_host(runner, state_directory(os.environ)) as state,
        ExitStack() as stack,
    ):
        check_root(effective_user(runner), spec, host_plan)
        dirs = directories(state, run_dir)
        give_ports_to_dpdk(state, spec)
        urgency = stack.enter_context(polling_first(state))
        assembly = assemble(spec, host_plan, state, dirs)
        with reserved(state, host_plan.huge_pages.value):
            bring_up(assembly.parts, stack)
        rig = rig_of(spec, host_plan, runner, assembly)
        bench = RealBench(rig, _describe(assembly, urgency))
        bench.await_open(lossless=spec.topology.kind.has_vswitch)
        yield bench
        rig.watch.contention.reference.keep()


def clean(runner: Runner, state_dir: Path) -> list[str]:
    """Undo what killed runs left on this host; a sentence for each thing found and removed."""
    return tidy_up(runner, state_dir)


def directories(state: HostState, run_dir: Path) -> Directories:
    """This run's directories: a new one for sockets, removed at the end; run_dir for logs."""
    tag = uuid.uuid4().hex[:8]
    run = PurePosixPath(_run_base()) / f"wirespeed-{tag}"
    state.make_directory(str(run))
    run_dir.mkdir(parents=True, exist_ok=True)
    return Directories(run, PurePosixPath(run_dir), tag)


def _run_base() -> str:
    """Where sockets go: short, because the path of a unix socket may have 107 octets."""
    wanted = os.environ.get("XDG_RUNTIME_DIR") or ("/run" if os.geteuid() == 0 else "")
    usable = len(wanted) <= _RUN_BASE_MAX and os.access(wanted, os.W_OK)
    return wanted if usable else tempfile.gettempdir()


def rig_of(spec: PointSpec, plan: HostPlan, runner: Runner, assembly: Assembly) -> Rig:
    """What trials of this point run on."""
    forwarding = {cpu for guest in plan.guests for cpu in (guest.floats_over or guest.cpus).value}
    if plan.vswitch is not None:
        forwarding |= set(plan.vswitch.pmd_cpus.value)
    pollers = set(forwarding)
    if plan.generator is not None:
        pollers |= set(plan.generator.cpus.value)
    shared = plan.generator is not None and bool(plan.generator.shared)
    program = assembly.generator.program
    reference = Reference.open(runner, str(state_directory(os.environ) / _REFERENCE))
    watch = NoiseWatch(
        ContentionProbe(program, frozenset(pollers), frozenset(forwarding), reference),
        SwitchRecords(program),
        PlacementProbe.of(pollers, assembly.generator.placement),
        sut_unknown=spec.topology.kind is TopologyKind.EXTERNAL,
        tsc_invariant=bool(program.ask("info")["tsc_invariant"]),
    )
    ring_frames = _ring_frames(spec)
    return Rig(
        runner,
        assembly.wiring,
        assembly.parts,
        assembly.generator,
        watch,
        frozenset(pollers),
        ring_frames,
        ring_frames * _stages(spec),
        "shared_lcore" if shared else None,
    )


def _stages(spec: PointSpec) -> int:
    """How many rings in a row a frame may wait in: one into each switch or function, one out."""
    functions = spec.topology.vnfs if spec.topology.kind is TopologyKind.CHAIN else 1
    if spec.topology.kind in (TopologyKind.WIRE, TopologyKind.HOST, TopologyKind.P2P):
        return 2
    return 2 + 2 * functions


def _ring_frames(spec: PointSpec) -> int:
    """What the path holds at its shallowest stage, in frames of one direction."""
    if spec.topology.kind is TopologyKind.EXTERNAL:
        return 0
    rings = spec.sut.vswitch.descriptors
    if spec.topology.kind is TopologyKind.WIRE:
        return min(rings, spec.sut.impair.queue_frames) if spec.sut.impair.rate_fps else rings
    return rings * spec.sut.vswitch.rx_queues


def _describe(assembly: Assembly, urgency: str) -> Mapping[str, object]:
    return {"priority": urgency, **{part.name: part.describe() for part in assembly.parts}}
