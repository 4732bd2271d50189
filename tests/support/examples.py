# SPDX-License-Identifier: Apache-2.0
"""Provide hosts and a workload that use every feature of a plan, for golden files and consumers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from wirespeed.host.collect import collect
from wirespeed.host.file import HOST_FILE
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.plan_file import PLAN_FILE
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload
from wirespeed.remote.recorded import RecordedRunner

ROOT = Path(__file__).parents[2]
EXAMPLES = ("s0-speedtest", "s1-bng", "s2-chains", "s3-jumbo")


@cache
def recorded(machine: str) -> HostFacts:
    """Return the facts of a recorded server of the papers."""
    return collect(RecordedRunner.open(str(ROOT / "tests" / "hosts" / machine)))


def empty(machine: str, name: str) -> HostFacts:
    """Return such a server under another name, without running guests and without VFs."""
    facts = recorded(machine)
    pci = tuple(
        replace(device, sriov_num=0) for device in facts.pci if device.physical_function is None
    )
    return replace(facts, host=name, guests=(), ovs=None, pci=pci)


def example_host(example: str) -> HostFacts:
    path = ROOT / "examples" / example / "host.json"
    return HOST_FILE.parse(path.read_text(encoding="utf-8"), str(path))


def example_text(example: str) -> str:
    return (ROOT / "examples" / example / "workload.toml").read_text(encoding="utf-8")


def example_plan(example: str) -> Plan:
    """Return the plan made now, not the shipped one."""
    return plan_workload(parse_workload(example_text(example), example), [example_host(example)])


def shipped_plan(example: str) -> Plan:
    path = ROOT / "examples" / example / "plan.json"
    return PLAN_FILE.parse(path.read_text(encoding="utf-8"), str(path))


def lab_hosts() -> list[HostFacts]:
    """Return two R740xd and one S1 server without VFs; the second R740xd has a newer kernel."""
    one, two = empty("s3-r740xd", "compute-1"), empty("s3-r740xd", "compute-2")
    newer = replace(two.kernel, release="6.1.0-18-amd64")
    return [one, replace(two, kernel=newer), empty("s1-dppd", "edge-1")]


LAB = """
name = "lab"
description = "everything at once"

[cores]
shared_cores = 1

[vswitch]
memory_model = "ovs-per-port"

[[aggregate]]
name = "nfv"
hosts = ["compute-*"]
metadata = { nfv = "true", "tier name" = "gold's" }

[[alias]]
name = "qat"
vendor = "8086"
product = "0435"

[[network]]
name = "access"
physical_network = "physnet1"
type = "vlan"
segment = 100
mtu = 9000
cidr = "10.1.0.0/24"

[[network]]
name = "core"
physical_network = "physnet2"
transparent_vlan = true

[[network]]
name = "service"
physical_network = "physnet1"
type = "vlan"
segment = 200
mtu = 9000

[[nic]]
network = "access"
use = "dpdk"
ports = ["0000:5e:00.0", "0000:60:00.0"]
hosts = ["compute-*"]
bond = "bond0"

[[nic]]
network = "service"
use = "dpdk"
ports = ["0000:5e:00.1"]
hosts = ["compute-*"]

[[nic]]
network = "core"
use = "sriov"
ports = ["ens4f0"]
hosts = ["compute-*"]

[[nic]]
network = "core"
use = "sriov"
ports = ["eth1"]
hosts = ["edge-*"]
vfs = 4

[[vnf]]
name = "gateway"
count = 2
vcpus = 6
memory_mib = 8192
page_size = "1GiB"
cpu_policy = "dedicated"
thread_policy = "require"
emulator_policy = "isolate"
numa_nodes = 2
multiqueue = true
cpu_features = ["aes", "avx512f", "rdrand"]
aggregate = "nfv"

[[vnf.port]]
name = "access"
network = "access"
frame_bytes = 512
rate_fps = 1500000
port_security = false

[[vnf.port]]
name = "core"
network = "core"
kind = "sriov"
frame_bytes = 512
rate_fps = 1500000

[[vnf]]
name = "cache"
count = 2
vcpus = 4
memory_mib = 4096
cpu_policy = "mixed"
dedicated_cpus = "1-3"
page_size = "large"
data_plane = "kernel"

[vnf.image_properties]
hw_vif_multiqueue_enabled = true
os_distro = "debian"

[[vnf.port]]
name = "core"
network = "core"
kind = "macvtap"

[[vnf]]
name = "ids"
vcpus = 4
memory_mib = 4096
page_size = "2MiB"
cpu_policy = "dedicated"

[[vnf.port]]
name = "in"
network = "service"
pattern = "east-west"
chain = "inspect"
frame_bytes = 1518
rate_fps = 200000

[[vnf]]
name = "vpn"
vcpus = 2
memory_mib = 2048
page_size = "1GiB"
cpu_policy = "dedicated"
pci_numa_policy = "required"

[[vnf.device]]
alias = "qat"

[[vnf]]
name = "monitor"
vcpus = 2
memory_mib = 1024

[[vnf.port]]
name = "mgmt"
network = "service"
kind = "virtio"

[[vnf]]
name = "giant"
vcpus = 40
memory_mib = 4608
page_size = "1GiB"
cpu_policy = "dedicated"

[[chain]]
name = "inspect"
order = ["gateway", "ids"]

[[group]]
name = "gateways apart"
policy = "anti-affinity"
members = ["gateway"]
"""


@cache
def lab_plan() -> Plan:
    return plan_workload(parse_workload(LAB, "lab.toml"), lab_hosts())


def plans() -> dict[str, Plan]:
    """Return every plan whose renderings are checked."""
    return {"lab": lab_plan(), **{name: example_plan(name) for name in EXAMPLES}}
