# SPDX-License-Identifier: Apache-2.0
"""Open, use and close a bench, so that it leaves nothing behind."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from wirespeed.bench.assembly.hosts import BenchHost, BenchHosts
from wirespeed.bench.assembly.kinds import topology_of
from wirespeed.bench.assembly.layout import Places, control_cpu, port_mtu
from wirespeed.bench.assembly.opened import OpenHost, opened_host
from wirespeed.bench.assembly.parts import Assembly, assemble, bring_up
from wirespeed.bench.fault.inject import as_built, injections, opens
from wirespeed.bench.guest.interface import Guests, emulated_by
from wirespeed.bench.host.host import terminated_like_interrupted
from wirespeed.bench.host.hugepages import reserved
from wirespeed.bench.interface import BenchError, Part
from wirespeed.bench.noise.moves import place
from wirespeed.bench.program.watcher import Watcher
from wirespeed.bench.routing.churn import route_changes
from wirespeed.bench.switch.nic.part import NicSwitch
from wirespeed.bench.trial import TrialSetup, run_trial
from wirespeed.bench.trial_setup import setup_between, setup_on_one_host
from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import Observation
from wirespeed.model.study.spec import Frames

# A path is open when this rate in frames/s passes it without loss twice in a row.
_PROBE_FPS, _PROBE_S = 10_000.0, 0.1
# It is given up after this time and as many probes. One takes seconds on an emulated host.
_OPEN_S, _PROBES = 20.0, 10


class RealBench:
    """A bench on one host or two. Made by open_bench alone."""

    def __init__(
        self, rig: TrialSetup, description: Mapping[str, object], emulated: str | None = None
    ) -> None:
        self.rig = rig
        self.emulated = emulated
        self._description = description

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        """Measure at a load; see interface.Bench."""
        return run_trial(self.rig, load_fps, duration_s)

    def place(self, after_s: float) -> CpuPlacement | None:
        """Probe the polling CPUs; see interface.Bench."""
        time.sleep(after_s)
        return place(self.rig.watches).at

    def describe(self) -> Mapping[str, object]:
        return self._description

    def await_open(self, lossless: bool) -> None:
        """Wait until the path is open.

        lossless: whether an open path loses nothing at a low load. After its links come up, a
        vSwitch reconfigures itself for seconds and loses frames. A frame that found the receive
        ring of the generator or of a function full has passed the vSwitch, too: the single core of
        an emulated host is late at times.
        """
        deadline = time.monotonic() + _OPEN_S
        passed = probes = 0
        while passed < 2:
            probes += 1
            seen = self.measure(_PROBE_FPS, _PROBE_S)
            received, offered = seen.total("received"), seen.total("offered")
            taken = received + seen.handled
            whole = taken > 0 and taken + _too_late(seen) == offered
            passed = passed + 1 if whole or (received and not lossless) else 0
            if not passed and probes >= _PROBES and time.monotonic() > deadline:
                where = ", ".join(f"{d.frames} at {d.hop} ({d.cause})" for d in seen.drops)
                raise BenchError(
                    f"frames do not pass the SUT: of {offered} frames at {_PROBE_FPS:g} frames/s, "
                    f"{received} arrived; missing: {where}",
                    "Check that what lies between the ports forwards to their MAC addresses."
                    if not lossless
                    else "The logs of all programs are in the run directory.",
                )


def _too_late(seen: Observation) -> int:
    """Return the frames that reached the generator or a function and found its ring full."""
    late = (DropCause.TG_RX_RING_FULL, DropCause.VNF_RX_RING_FULL)
    return sum(d.frames for d in seen.drops if d.cause in late)


@contextmanager
def open_bench(
    frames: Frames, plan: Plan, hosts: BenchHosts, run_dir: Path, guests: Guests | None = None
) -> Iterator[RealBench]:
    """Bring up the bench of this point; undo everything when the context ends.

    run_dir: destination of logs and configuration files, with one folder for each of two hosts.
    guests: images for virtual machines, where the plan has some. Raises BenchError when a component
    cannot be brought up.
    """
    frames = as_built(frames)
    mtu = port_mtu(frames, plan.sut_host)
    with terminated_like_interrupted(), ExitStack() as stack:

        def opened(access: BenchHost, host_plan: HostPlan) -> OpenHost:
            logs = run_dir if hosts.sut is None else run_dir / access.runner.name
            return stack.enter_context(opened_host(access, host_plan, frames, mtu, logs))

        generator = opened(hosts.generator, plan.generator_host)
        sut = generator if hosts.sut is None else opened(hosts.sut, plan.sut_host)
        places = Places(generator.place, sut.place, guests)
        assembly = assemble(frames, places, generator.host, sut.host)
        if hosts.sut is None:
            _bring_up(assembly.parts, generator, stack, assembly.ready_s)
            rig = setup_on_one_host(frames, generator, assembly)
        else:
            watcher = Watcher(sut.host, sut.place.dirs, control_cpu(sut.place.plan))
            # Hosts start in sequence: a run that holds one host's pages must not wait for
            # another's.
            _bring_up([*assembly.sut, watcher], sut, stack, assembly.ready_s)
            _bring_up([assembly.generator], generator, stack, assembly.ready_s)
            rig = setup_between(frames, generator, sut, assembly, watcher)
        bench = RealBench(rig, _describe(rig, generator, sut), _emulated(guests, assembly.parts))
        topology = topology_of(frames)
        whole = topology.has_switch or bool(topology.virtual_functions(frames))
        if opens(frames):
            bench.await_open(lossless=whole)
        with _with_fault(bench, frames, sut, assembly):
            yield bench
        for host in rig.hosts:
            host.watch.contention.reference.keep()


@contextmanager
def _with_fault(
    bench: RealBench, frames: Frames, sut: OpenHost, assembly: Assembly
) -> Iterator[None]:
    """Inject the point's fault, and its changes of routes, once the path has proved healthy."""
    found = (
        *injections(frames, sut.host, sut.place, assembly.wiring, assembly.parts),
        *route_changes(assembly.parts),
    )
    with ExitStack() as stack:
        for injection in found:
            stack.callback(injection.down)
            injection.up()
        bench.rig = replace(bench.rig, injections=found)
        for each in bench.rig.hosts:
            each.settings.remember()
        yield


def _emulated(guests: Guests | None, parts: Sequence[Part]) -> str | None:
    """Return why results say nothing about speed; None where they do."""
    found = [part.emulated for part in parts if isinstance(part, NicSwitch)]
    return "; ".join(why for why in (*found, emulated_by(guests)) if why) or None


def _bring_up(parts: Sequence[Part], on: OpenHost, stack: ExitStack, within_s: float) -> None:
    """Start components while the host's huge pages belong to this run alone."""
    with reserved(on.host, on.place.plan.huge_pages.value):
        bring_up(parts, stack, within_s)


def _describe(rig: TrialSetup, generator: OpenHost, sut: OpenHost) -> Mapping[str, object]:
    parts = {part.name: part.describe() for part in rig.parts}
    if generator is sut:
        return {"priority": sut.urgency, **parts}
    hosts = {"generator": _describe_host(generator), "sut": _describe_host(sut)}
    return {"hosts": hosts, **parts}


def _describe_host(each: OpenHost) -> Mapping[str, object]:
    runner = each.host.runner
    return {
        "host": runner.name,
        "address": runner.address,
        "kernel": runner.run(["uname", "-r"]).stdout.strip(),
        "ports": {name: str(plug) for name, plug in each.place.ports.items()},
        "priority": each.urgency,
    }
