# SPDX-License-Identifier: Apache-2.0
"""Test one function with a virtual function and a port of Open vSwitch, both emulated."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from tests.lab.nic import EAST, nic
from tests.support.lab_node import LabNode
from tests.support.real_bench import drops, frames_are_conserved
from wirespeed.bench.assembly.hosts import BenchHost, BenchHosts
from wirespeed.bench.host.leftovers import hosts_left
from wirespeed.bench.session import open_bench
from wirespeed.host.collect import collect
from wirespeed.lab.lab import WSDP
from wirespeed.model.study.spec import Frames, Sut, Topology, Vswitch
from wirespeed.remote.state import state_directory
from wirespeed.session.rig import plan_of

pytestmark = pytest.mark.lab(whole=True)


@pytest.mark.parametrize("vnfs", [1, 2])
def test_frames_enter_by_the_nic_and_leave_by_the_vswitch(
    lab_node: LabNode, lab_way: str, tmp_path: Path, vnfs: int
) -> None:
    # Both switches count, and lost frames are located.
    del lab_way
    frames = Frames(Topology("sriov-vhost", vnfs), sut=Sut(Vswitch(descriptors=512), ports=(EAST,)))
    with lab_node.runner() as runner:
        runner.run(["modprobe", "vfio-pci"])
        before = nic(runner)
        plan = plan_of(collect(runner), frames)
        with open_bench(frames, plan, BenchHosts(BenchHost(runner, {}, WSDP)), tmp_path) as bench:
            seen = bench.measure(300.0, 0.5)
            assert frames_are_conserved(seen)
            assert seen.total("received") == seen.total("offered") > 0
            flooded = bench.measure(math.inf, 0.2)
            assert frames_are_conserved(flooded)
            assert {hop.partition(":")[0] for hop, _ in drops(flooded)} <= {
                "nic", "switch", "vnf0", "vnf1", "tg", "sut-ingress",
            }  # fmt: skip
        assert hosts_left(state_directory(os.environ)) == ()
        assert nic(runner) == before
