# SPDX-License-Identifier: Apache-2.0
"""Make plans for the simulated host with the real planner."""

from __future__ import annotations

from functools import cache

from tests.support.fake_host import FakeHost
from wirespeed.host.collect import collect
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload

# Every kind of decision: a switch with a DPDK port, VFs with and without port security.
WORKLOAD = """
name = "lab"

[[network]]
name = "outside"
physical_network = "physnet1"
type = "vlan"
segment = 50

[[network]]
name = "inside"
physical_network = "physnet2"

[[nic]]
network = "outside"
use = "sriov"
ports = ["0000:21:00.0"]
vfs = {vfs}

[[nic]]
network = "inside"
use = "dpdk"
ports = ["0000:03:00.0"]

[[vnf]]
name = "router"
count = 2
vcpus = 2
memory_mib = 1024
page_size = "1GiB"
cpu_policy = "dedicated"
pci_numa_policy = "preferred"

[[vnf.port]]
name = "out"
network = "outside"
kind = "sriov"
port_security = false

[[vnf.port]]
name = "in"
network = "inside"
kind = "vhost"
rate_fps = 100000
"""
SMALL = """
name = "small"

[[vnf]]
name = "worker"
vcpus = 2
memory_mib = 1024
page_size = "1GiB"
cpu_policy = "dedicated"
"""


def plan_for(host: FakeHost, workload: str = WORKLOAD, vfs: int = 4) -> Plan:
    with host.reach("ssh://lab1", sudo=True) as runner:
        facts = collect(runner)
    text = workload.replace("{vfs}", str(vfs))
    return plan_workload(parse_workload(text, "lab.toml"), [facts])


@cache
def lab_plan() -> Plan:
    return plan_for(FakeHost())
