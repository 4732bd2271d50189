# SPDX-License-Identifier: Apache-2.0
"""Compare our generator with testpmd flowgen on the same Open vSwitch.

One Open vSwitch with DPDK stays up; the two take turns on its two ports. Both send 64 flows of 64 B
frames in both directions at once, as fast as possible, and each sends and receives on one lcore of
the same CPU. The result is frames received per second, on both ports together. While they are
counted, the polling threads of both run alone on their CPUs.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.shared.figures import show
from benchmarks.shared.point import point_of

from wirespeed.bench.assembly.layout import Place, Places
from wirespeed.bench.assembly.opened import OpenHost
from wirespeed.bench.assembly.parts import Assembly, assemble, bring_up
from wirespeed.bench.host.directories import Directories, run_directories
from wirespeed.bench.host.host import Host, changing_host, terminated_like_interrupted
from wirespeed.bench.host.hugepages import reserved
from wirespeed.bench.host.priority import polling_first
from wirespeed.bench.host.process import Daemon, await_true, last_words
from wirespeed.bench.interface import BenchError
from wirespeed.bench.program import dpdk
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.bench.switch.ovs_dpdk.control import Control
from wirespeed.bench.topology.wiring import PORTS
from wirespeed.bench.trial import TrialSetup, run_trial
from wirespeed.bench.trial_setup import setup_on_one_host
from wirespeed.host.collect import collect
from wirespeed.model.study.spec import Frames
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.state import state_directory
from wirespeed.session.rig import plan_of
from wirespeed.sources.telemetry import Telemetry

ROUNDS = 9
TRIAL_S = 0.5
FRAME_BYTES = 64
FLOWS = 64
OPEN_S = 30.0
# flowgen addresses all its frames to this constant (app/test-pmd/flowgen.c, cfg_ether_dst).
FLOWGEN_MAC = "00:01:02:03:04:01"


def flowgen_command(config: WsdpConfig) -> list[str]:
    """Return testpmd's command on the generator's devices, CPUs and memory."""
    return [
        "dpdk-testpmd", "--lcores", f"0@{config.control_cpu},1@{config.cpus[0]}",
        f"--file-prefix={config.file_prefix}", "--no-pci",
        *dpdk.memory_options(config.memory),
        *(f"--vdev={port.device}" for port in config.ports), "--",
        "--forward-mode=flowgen", f"--flowgen-flows={FLOWS}", f"--txpkts={FRAME_BYTES}",
        "--nb-cores=1", "--no-flush-rx",
        f"--rxd={config.ports[0].posted}", f"--txd={config.ports[0].descriptors}",
        f"--total-num-mbufs={config.memory.mbufs}", "--stats-period=1000000",
    ]  # fmt: skip


@contextmanager
def flowgen(host: Host, dirs: Directories, config: WsdpConfig) -> Iterator[Telemetry]:
    """Yield a testpmd that sends."""
    daemon = Daemon("flowgen", host, dirs)
    socket = dpdk.telemetry_socket(dirs.run, config.file_prefix)
    command = flowgen_command(config)
    cpus = {config.control_cpu, *config.cpus}
    daemon.start(command, env=dpdk.environment(dirs.run), cpus=cpus)
    try:
        daemon.await_socket(socket, OPEN_S)
        telemetry = Telemetry(host.runner, socket)
        await_true(
            lambda: all(_received(telemetry, port) for port in range(len(PORTS))),
            within_s=OPEN_S,
            alive=daemon.ended,
            otherwise=lambda: "testpmd receives nothing: " + last_words(host.runner, daemon.log),
        )
        yield telemetry
        telemetry.close()
    finally:
        daemon.stop()


def _received(telemetry: Telemetry, port: int) -> int:
    """Return the frames so far; none as long as testpmd has not made the port."""
    if port not in telemetry.ask("/ethdev/list"):
        return 0
    return int(telemetry.ask(f"/ethdev/stats,{port}")["ipackets"])


def flowgen_fps(host: Host, dirs: Directories, config: WsdpConfig) -> float:
    """Return frames/s that testpmd received on both ports, over TRIAL_S after the first ones."""
    with flowgen(host, dirs, config) as telemetry:
        time.sleep(0.2)
        before = sum(_received(telemetry, port) for port in range(len(PORTS)))
        began = time.monotonic()
        time.sleep(TRIAL_S)
        received = sum(_received(telemetry, port) for port in range(len(PORTS))) - before
        return received / (time.monotonic() - began)


def ours_fps(rig: TrialSetup) -> float:
    """Return frames/s that our sinks received on both ports, over TRIAL_S on the open path."""
    deadline = time.monotonic() + OPEN_S
    while True:
        seen = run_trial(rig, 20_000.0, 0.1)
        if seen.total("received") == seen.total("offered"):
            return run_trial(rig, math.inf, TRIAL_S).total("received") / TRIAL_S
        if time.monotonic() > deadline:
            raise BenchError("the path through the vSwitch does not open for our generator")


def take_turns(spec: Frames, on: OpenHost) -> list[tuple[float, float]]:
    """Return ROUNDS pairs of (ours, flowgen's) frames/s."""
    found = []
    host, dirs = on.host, on.place.dirs
    with ExitStack() as stack:
        stack.enter_context(polling_first(host))
        [vswitch] = assembled(spec, on).sut
        bring_up([vswitch], stack)
        control = Control(host.runner, dirs.run, f"ws{dirs.tag}")
        for number, other in ((1, 2), (2, 1)):
            rule = f"in_port={number},dl_dst={FLOWGEN_MAC},actions=output:{other}"
            control.ofctl("add-flows", "-", stdin=rule)
        for _ in range(ROUNDS):
            again = assembled(spec, on)
            ours = _our_turn(spec, on, replace(again, sut=[vswitch]))
            found.append((ours, flowgen_fps(host, dirs, again.layout.traffic)))
    return found


def _our_turn(spec: Frames, on: OpenHost, assembly: Assembly) -> float:
    with ExitStack() as stack:
        bring_up([assembly.generator], stack)
        return ours_fps(setup_on_one_host(spec, on, assembly))


def assembled(spec: Frames, on: OpenHost) -> Assembly:
    return assemble(spec, Places(on.place, on.place), on.host, on.host)


def main() -> int:
    spec = point_of(
        "quickstart", "topology.kind=p2p", "topology.bidirectional=true",
        f"traffic.frame={FRAME_BYTES}", f"traffic.flows={FLOWS}",
    )  # fmt: skip
    runner = LocalRunner()
    plan = plan_of(collect(runner), spec).hosts[0]
    with (
        tempfile.TemporaryDirectory(prefix="ws-") as logs,
        terminated_like_interrupted(),
        changing_host(runner, state_directory(os.environ)) as host,
        reserved(host, plan.huge_pages.value),
        run_directories(host, Path(logs)) as dirs,
    ):
        on = OpenHost(host, Place(plan, dirs), "")
        config = assembled(spec, on).layout.traffic
        print("ours: wsdp, gen and sink on each port, trial as fast as possible")
        print("theirs:", " ".join(flowgen_command(config)))
        turns = take_turns(spec, on)
    for number, (ours, theirs) in enumerate(turns, 1):
        show(f"p2p_64B_turn{number}", ours, "fps", ours / theirs, "flowgen-in-the-same-turn")
    ours, theirs = median(t[0] for t in turns), median(t[1] for t in turns)
    show("p2p_64B_flowgen_received", theirs, "fps")
    show("p2p_64B_mrr", ours, "fps", ours / theirs, "flowgen-on-the-same-vswitch")
    return 0


if __name__ == "__main__":
    sys.exit(main())
