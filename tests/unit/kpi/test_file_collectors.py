# SPDX-License-Identifier: Apache-2.0
"""Check the collectors of the kernel's files on texts of a real host."""

from __future__ import annotations

from tests.unit.kpi.fake_host import missing, read
from wirespeed.kpi.collectors.cpu import CpuCollector
from wirespeed.kpi.collectors.interfaces import InterfaceCollector
from wirespeed.kpi.collectors.interrupts import InterruptCollector
from wirespeed.kpi.collectors.memory import MemoryCollector
from wirespeed.kpi.collectors.registry import collectors, metrics
from wirespeed.kpi.collectors.threads import ThreadCollector

STAT = """cpu  2 2 2 2 2 2 2 2 0 0
cpu0 19993 6024 4446 900 7 1 223 32 0 0
cpu1 20 30 40 50 60 70 80 90 0 0
intr 1 2 3
"""


def test_cpu_times_are_ns_by_use_without_idle() -> None:
    files = {
        "/proc/stat": STAT,
        "/sys/devices/system/cpu/isolated": "1\n",
        "/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq": "2400000\n",
    }
    epoch, found = read(CpuCollector(), files)
    assert epoch == "5d0a-boot"
    assert found["cpu_user_seconds", ("0",)] == 199_930_000_000
    assert found["cpu_steal_seconds", ("1",)] == 900_000_000
    assert found["cpu_softirq_seconds", ("0",)] == 2_230_000_000
    assert [found["cpu_isolated", (cpu,)] for cpu in "01"] == [0, 1]
    assert found["cpu_frequency_hertz", ("1",)] == 2_400_000_000
    assert not any("idle" in key for key, _ in found)


def test_cpu_of_a_host_without_proc_stat_is_missing_with_the_file() -> None:
    assert missing(CpuCollector(), {}).startswith("/proc/stat: ")


INTERRUPTS = """           CPU0       CPU1
  1:         11         12   IO-APIC   1-edge      i8042
 24:        100        200   PCI-MSI 512000-edge      virtio0-input.0
LOC:       1000       2000   Local timer interrupts
RES:         30         40   Rescheduling interrupts
MCP:          5          6   Machine check polls
ERR:          9
"""
SOFTIRQS = """                    CPU0       CPU1
      NET_RX:         70         80
"""


def test_interrupts_are_added_up_by_kind_and_devices_are_no_label() -> None:
    files = {"/proc/interrupts": INTERRUPTS, "/proc/softirqs": SOFTIRQS}
    _, found = read(InterruptCollector(), files)
    assert found == {
        ("cpu_interrupts", ("0", "device")): 111,
        ("cpu_interrupts", ("1", "device")): 212,
        ("cpu_interrupts", ("0", "timer")): 1000,
        ("cpu_interrupts", ("1", "timer")): 2000,
        ("cpu_interrupts", ("0", "rescheduling")): 30,
        ("cpu_interrupts", ("1", "rescheduling")): 40,
        ("cpu_interrupts", ("0", "other")): 5,
        ("cpu_interrupts", ("1", "other")): 6,
        ("cpu_softirqs", ("0", "NET_RX")): 70,
        ("cpu_softirqs", ("1", "NET_RX")): 80,
    }


def test_memory_and_huge_pages_are_by_node() -> None:
    node = "/sys/devices/system/node/node1"
    files = {
        f"{node}/meminfo": "Node 1 MemTotal:  1024 kB\nNode 1 MemFree:   512 kB\n",
        f"{node}/hugepages/hugepages-2048kB/nr_hugepages": "8\n",
        f"{node}/hugepages/hugepages-2048kB/free_hugepages": "3\n",
    }
    _, found = read(MemoryCollector(), files)
    assert found == {
        ("memory_size_bytes", ("1",)): 1 << 20,
        ("memory_free_bytes", ("1",)): 1 << 19,
        ("huge_pages", ("1", "2048")): 8,
        ("huge_pages_free", ("1", "2048")): 3,
    }
    assert "no NUMA node" in missing(MemoryCollector(), {})


DEV = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop
eth0.7: 1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0
 cut: 1 2
"""


def test_interfaces_have_both_directions_and_a_cut_line_is_omitted() -> None:
    _, found = read(InterfaceCollector(), {"/proc/net/dev": DEV})
    assert found["interface_bytes", ("eth0.7", "rx")] == 1000
    assert found["interface_dropped_packets", ("eth0.7", "tx")] == 4
    assert len(found) == 8


def thread(pid: int, tid: int, name: str, on_cpu: int) -> dict[str, str]:
    stat = f"{tid} ({name}) R {' '.join(['0'] * 35)} 3 0"
    task = {
        "status": f"Name: {name}\nvoluntary_ctxt_switches: 5\nnonvoluntary_ctxt_switches: 6\n",
        "schedstat": f"{on_cpu} 77 9\n",
        "stat": stat,
    }
    return {
        f"/proc/{pid}/comm": "ovs-vswitchd\n",
        f"/proc/{pid}/task/{tid}/comm": f"{name}\n",
        **{f"/proc/{tid}/task/{tid}/{file}": text for file, text in task.items()},
    }


def test_polling_threads_are_read_and_a_restart_changes_the_epoch() -> None:
    first, found = read(ThreadCollector(), thread(10, 11, "pmd-c03/id:7", 123))
    label = ("ovs-vswitchd", "pmd-c03/id:7")
    assert found["thread_cpu_seconds", label] == 123
    assert found["thread_wait_seconds", label] == 77
    assert found["thread_switches", (*label, "involuntary")] == 6
    assert found["thread_cpu", label] == 3
    second, _ = read(ThreadCollector(), thread(20, 21, "pmd-c03/id:7", 1))
    assert first != second
    assert "no process has a polling thread" in missing(ThreadCollector(), {})


def test_every_metric_has_base_units_and_stable_names() -> None:
    names = metrics()
    assert names
    for metric in names.values():
        assert metric.prometheus.startswith("wirespeed_")
        if metric.unit.base not in ("", "packets", "cycles"):
            assert metric.unit.base in metric.key, metric.key
        assert metric.text
        assert not metric.text.endswith(".")
    shared = [m.key for each in collectors() for m in each.metrics]
    same = {key for key in shared if shared.count(key) > 1}
    assert same == {"mempool_size", "mempool_free"}
