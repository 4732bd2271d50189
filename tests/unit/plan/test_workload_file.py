# SPDX-License-Identifier: Apache-2.0
"""Check that a workload file is read as written, and that all its errors are reported at once."""

from __future__ import annotations

import pytest

from wirespeed.model.plan.policy import (
    CpuPolicy,
    EmulatorPolicy,
    InterfaceKind,
    Pattern,
    ThreadPolicy,
)
from wirespeed.model.plan.workload import Workload
from wirespeed.plan.errors import FileFaults, PlanError
from wirespeed.plan.workload.file import parse_workload

BASE = """
name = "lab"
[[network]]
name = "data"
physical_network = "physnet1"
type = "vlan"
segment = 100
mtu = 9000
[[nic]]
network = "data"
use = "sriov"
ports = ["0000:5e:00.0"]
[[alias]]
name = "qat"
vendor = "8086"
product = "0442"
"""


def read(text: str) -> Workload:
    return parse_workload(BASE + text, "lab.toml")


def faults(text: str) -> list[str]:
    with pytest.raises(FileFaults) as caught:
        read(text)
    return [str(fault) for fault in caught.value.faults]


def test_everything_of_a_vnf_is_read() -> None:
    workload = read("""
[cores]
idle_cpus = "10,30"
pmd_cores = { 0 = 4, 1 = 1 }
[memory]
page_size = "2MiB"
[[vnf]]
name = "fw"
count = 2
vcpus = 4
memory_mib = 4096
page_size = "1GiB"
cpu_policy = "mixed"
dedicated_cpus = "1-3"
thread_policy = "require"
emulator_policy = "isolate"
numa_nodes = 2
numa_cpus = ["0,1", "2-3"]
numa_memory_mib = [1024, 3072]
cpu_features = ["aes"]
[[vnf.device]]
alias = "qat"
count = 2
[[vnf.port]]
name = "in"
network = "data"
kind = "sriov"
rate_fps = 1e6
frame_bytes = 256
port_security = false
""")
    vnf = workload.vnfs[0]
    assert workload.cores.idle_cpus == (10, 30)
    assert workload.cores.pmd_cores == {0: 4, 1: 1}
    assert workload.memory.page_size_kib == 2048
    assert (vnf.cpu_policy, vnf.thread_policy) == (CpuPolicy.MIXED, ThreadPolicy.REQUIRE)
    assert (vnf.dedicated_cpus, vnf.emulator_policy) == ((1, 2, 3), EmulatorPolicy.ISOLATE)
    assert (vnf.page_size, vnf.numa_cpus) == ("1048576", ((0, 1), (2, 3)))
    assert vnf.devices[0].count == 2
    port = vnf.ports[0]
    assert (port.kind, port.pattern) == (InterfaceKind.SRIOV, Pattern.NORTH_SOUTH)
    assert not port.port_security


def test_all_faults_at_once_each_with_its_place() -> None:
    found = faults("""
[cores]
housekeping = "per-node"
idle_cpus = "3-1"
[[vnf]]
name = "fw"
vcpus = 0
memory_mib = 1024
page_size = "1 gig"
[[vnf.port]]
name = "in"
network = "data"
kind = "teleport"
rate = 5
[[vnf]]
name = "lb"
""")
    text = "\n".join(found)
    assert "cores.housekeping" in text
    assert "Did you mean 'housekeeping'?" in text
    assert "cores.idle_cpus = '3-1'" in text
    assert "vnf[fw].vcpus = 0: must be greater than or equal to 1" in text
    assert "vnf[fw].page_size = '1 gig'" in text
    assert "vnf[fw].port[in].kind = 'teleport'" in text
    assert "Did you mean 'rate_fps'?" in text
    assert "vnf[lb].vcpus = (absent): is required" in text
    assert "vnf[lb].memory_mib = (absent): is required" in text
    assert len(found) == 8


VNF = '[[vnf]]\nname = "v"\nvcpus = 4\nmemory_mib = 4096\n'
NIC = '[[nic]]\nnetwork = "data"\nports = ["0000:5e:00.1"]\n'
PORT = '[[vnf.port]]\nname = "p"\nnetwork = "data"\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (VNF + 'thread_policy = "require"', "floating vCPUs have no threads"),
        (VNF + 'emulator_policy = "isolate"', 'needs cpu_policy = "dedicated" or "mixed"'),
        (VNF + 'cpu_policy = "mixed"', "pins some of the vCPUs 0-3, not none or all"),
        (VNF + 'cpu_policy = "mixed"\ndedicated_cpus = "0-3"', "not none or all"),
        (VNF + 'cpu_policy = "mixed"\ndedicated_cpus = "3-9"', "not none or all"),
        (VNF + 'dedicated_cpus = "0"', 'goes with cpu_policy = "mixed" only'),
        (
            "[placement]\nnova_release = 26\n"
            + VNF
            + 'cpu_policy = "mixed"\ndedicated_cpus = "2-3"\nnuma_nodes = 2',
            "leaves the guest's node 0 without a pinned vCPU; Nova 26 finds no host",
        ),
        (VNF + "numa_nodes = 3", "cannot be split evenly over numa_nodes = 3"),
        (VNF + 'numa_cpus = ["0-3"]', "must come together with numa_memory_mib"),
        (
            VNF + 'numa_nodes = 2\nnuma_cpus = ["0-1", "1-3"]\nnuma_memory_mib = [2048, 2048]',
            "must name each of the vCPUs 0-3 once",
        ),
        (
            VNF + 'numa_nodes = 2\nnuma_cpus = ["0-1", "2-3"]\nnuma_memory_mib = [1024, 2048]',
            "must add up to memory_mib = 4096",
        ),
        (VNF + 'aggregate = "fast"', "there is no such [[aggregate]]"),
        (VNF + '[[vnf.device]]\nalias = "gpu"', "there is no such [[alias]]; there are: qat"),
        (VNF + NIC + 'use = "dpdk"\nvfs = 4', 'nic[data].vfs = 4: goes with use = "sriov" only'),
        (VNF + NIC + 'use = "sriov"\nbond = "b0"', ".bond = 'b0': goes with use = \"dpdk\" only"),
        (VNF + PORT + 'kind = "vhost"', "no [[nic]] of network 'data' has use = \"dpdk\""),
        (VNF + PORT + 'pattern = "east-west"', "an east-west port must name its [[chain]]"),
        (VNF + PORT + "frame_bytes = 9700", "needs MTU 9682; network 'data' has 9000"),
        (VNF + PORT + "queues = 5", "one queue for each of its 4 vCPUs at most"),
        (VNF + VNF, "is used 2 times"),
        (
            VNF + '[[chain]]\nname = "c"\norder = ["x"]\n',
            "there is no such [[vnf]]; there are: v",
        ),
        (
            VNF + "count = 2\n"
            '[[group]]\nname = "a"\npolicy = "affinity"\nmembers = ["v"]\n'
            '[[group]]\nname = "b"\npolicy = "anti-affinity"\nmembers = ["v"]\n',
            "are also members of the anti-affinity group 'b'",
        ),
        ("[[vnfs]]\n", "unknown key; write [[vnf]]"),
        ("", "at least one [[vnf]] is required"),
    ],
)
def test_contradictions(text: str, expected: str) -> None:
    found = faults(text)
    assert any(expected in fault for fault in found), found


def test_not_toml() -> None:
    with pytest.raises(PlanError, match=r"lab\.toml: not TOML: .*line 2"):
        parse_workload("name = 'x'\nvnf = ?", "lab.toml")


@pytest.mark.parametrize(
    ("flavor", "image", "policy"),
    [
        ("", "hw_cpu_policy = 'dedicated'", CpuPolicy.DEDICATED),
        ('cpu_policy = "dedicated"', "hw_cpu_policy = 'shared'", CpuPolicy.DEDICATED),
    ],
)
def test_image_properties_are_settings(flavor: str, image: str, policy: CpuPolicy) -> None:
    workload = read(f"{VNF}{flavor}\n[vnf.image_properties]\n{image}\n")
    assert workload.vnfs[0].cpu_policy is policy


def test_s1s_image_properties() -> None:
    workload = read(
        VNF + "[vnf.image_properties]\n"
        "hw_numa_nodes = 2\n'hw_numa_cpus.0' = '0,1'\n'hw_numa_cpus.1' = '2,3'\n"
        "'hw_numa_mem.0' = 1024\n'hw_numa_mem.1' = 3072\n"
    )
    vnf = workload.vnfs[0]
    assert (vnf.numa_nodes, vnf.numa_cpus) == (2, ((0, 1), (2, 3)))
    assert vnf.numa_memory_mib == (1024, 3072)


@pytest.mark.parametrize(
    ("flavor", "image", "expected"),
    [
        ("", "hw_numa_mempolicy = 'strict'", "no Nova has it"),
        ("", "hw_cpu_threads_policy = 'prefer'", "Nova's name is hw_cpu_thread_policy"),
        ("", "hw_cpu_polcy = 'shared'", "no such property; did you mean 'hw_cpu_policy'?"),
        ("", "hw_numa_cpus = '0-1'", "no such property"),
        ("", "hw_mem_page_size = 'large'", 'Nova needs page_size = "large" or "any"'),
        ("numa_nodes = 1", "hw_numa_nodes = 1", "Nova forbids it together with numa_nodes"),
        (
            'cpu_policy = "dedicated"\nthread_policy = "isolate"',
            "hw_cpu_thread_policy = 'require'",
            "contradicts thread_policy = 'isolate'",
        ),
    ],
)
def test_images_that_contradict(flavor: str, image: str, expected: str) -> None:
    found = faults(f"{VNF}{flavor}\n[vnf.image_properties]\n{image}\n")
    assert any(expected in fault for fault in found), found


def test_image_properties_that_the_plan_does_not_read_are_named() -> None:
    text = (
        f"{VNF}[vnf.image_properties]\nhw_vif_model = 'virtio'\nowner = 'me'\nhw_numa_nodes = 1\n"
    )
    (warning,) = read(text).warnings
    assert "hw_vif_model, owner go to the image as they are" in warning


def test_settings_treated_differently_are_warned_about() -> None:
    workload = read(
        VNF + 'cpu_policy = "dedicated"\nthread_policy = "separate"\n'
        'numa_cpus = ["0-1", "2-3"]\nnuma_memory_mib = [2048, 2048]\n'
    )
    assert workload.vnfs[0].numa_nodes == 2
    assert any("numa_nodes = 2 added" in warning for warning in workload.warnings)
    assert any('"separate" never shipped' in warning for warning in workload.warnings)


def test_numbers_are_not_taken_from_text_or_truth() -> None:
    found = faults("""
[[vnf]]
name = "fw"
count = true
vcpus = "4"
memory_mib = 4096.5
[placement]
ram_ratio = inf
""")
    assert found == [
        "vnf[fw].vcpus = '4': must be a valid integer",
        "vnf[fw].memory_mib = 4096.5: must be a valid integer",
        "vnf[fw].count = True: must be a valid integer",
        "placement.ram_ratio = inf: must be a finite number",
    ]


def test_one_thing_in_place_of_a_list() -> None:
    found = faults("""
[[vnf]]
name = "fw"
vcpus = 1
memory_mib = 1
cpu_features = "aes"
[vnf.port]
name = "in"
[[nic]]
network = "data"
use = "dpdk"
ports = "ens1f0"
""")
    assert found == [
        "vnf[fw].cpu_features = 'aes': must be a list, as [\"...\"]",
        "vnf[fw].port = {'name': 'in'}: write [[vnf.port]]",
        "nic[1].ports = 'ens1f0': must be a list, as [\"...\"]",
    ]


def test_more_than_any_server_has() -> None:
    found = faults("""
[[vnf]]
name = "fw"
count = 100_000_000
vcpus = 100_000
memory_mib = 999_999_999_999_999_999
""")
    assert [fault.partition(":")[0] for fault in found] == [
        "vnf[fw].vcpus = 100000",
        "vnf[fw].memory_mib = 999999999999999999",
        "vnf[fw].count = 100000000",
    ]


@pytest.mark.parametrize("name", ["", "../../etc/cron.d/x", "a b", "-rf", "x" * 64, "$(reboot)"])
def test_names_become_files_and_domains(name: str) -> None:
    (found,) = faults(f"""
[[vnf]]
name = "{name}"
vcpus = 1
memory_mib = 1
""")
    assert ".name = " in found
    assert "must be a name" in found


def test_kernel_words_neither_contradict_the_plan_nor_reach_a_shell() -> None:
    found = faults("""
[kernel]
extra = ["mitigations=off", "isolcpus=1", "foo bar", "$(reboot)"]
[[vnf]]
name = "fw"
vcpus = 1
memory_mib = 1
""")
    word = "must be a word of the kernel command line: letters, digits, _.,:=/@%+*-"
    assert [fault.partition(", at most")[0] for fault in found] == [
        f"kernel.extra[2] = 'foo bar': {word}",
        f"kernel.extra[3] = '$(reboot)': {word}",
    ]
    (derived,) = faults(
        '[kernel]\nextra = ["isolcpus=1"]\n[[vnf]]\nname = "fw"\nvcpus = 1\nmemory_mib = 1\n'
    )
    assert derived == "kernel.extra = 'isolcpus=1': contradicts the plan, which derives it"
