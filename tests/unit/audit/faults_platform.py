# SPDX-License-Identifier: Apache-2.0
"""List errors of processor, firmware, boot loader, and of programs that share a setting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.unit.audit.case import Case
from tests.unit.audit.good_host import (
    PF,
    good_facts,
    good_plan,
    good_subject,
    with_device,
    with_facts,
)
from wirespeed.audit.rule import Subject
from wirespeed.model.host.facts import Missing
from wirespeed.model.host.platform import (
    BootEnvironment,
    CpuSmis,
    Service,
    SmiCount,
    Tuned,
    Uncore,
    Vulnerability,
)
from wirespeed.model.plan.plan import CorePlan, Decision, HugePages

UNTUNED = Uncore("package_00_die_00", 800_000, 2_400_000, 2_400_000)
LOWERED = Uncore("package_01_die_00", 1_800_000, 1_800_000, 2_400_000)
# Octets that may be in use before the planned words of `long_line` no longer fit.
LONGEST = 428
OFF = "ro mitigations=off nopti isolcpus=1-5"


def split(**changes: Any) -> Subject:
    """Give package 0 the nodes 0 and 2: CPUs 3-5 and 15-17 are on node 2."""
    facts = good_facts()
    second = {3, 4, 5, 15, 16, 17}
    cpus = tuple(replace(cpu, node=2) if cpu.id in second else cpu for cpu in facts.cpus)
    return with_facts(cpus=cpus, **changes)


def polled_by(mask: str) -> Subject:
    ovs = good_facts().ovs
    assert ovs
    return split(ovs=replace(ovs, other_config={**ovs.other_config, "pmd-cpu-mask": mask}))


def weak(state: str, cmdline: str = "ro") -> Subject:
    kernel = replace(good_facts().kernel, cmdline=cmdline)
    return with_facts(vulnerabilities=(Vulnerability("mds", state),), kernel=kernel)


def running(*names: str, tuned: Tuned | None = None, **changes: Any) -> Subject:
    services = tuple(Service(name, active=True) for name in names)
    return with_facts(services=services, tuned=tuned, **changes)


def planned(subject: Subject, **changes: Any) -> Subject:
    plan = good_plan()
    return replace(subject, plan=replace(plan, hosts=(replace(plan.hosts[0], **changes),)))


def _cores() -> CorePlan:
    some, none = Decision((1, 2), "test"), Decision((), "test")
    return CorePlan(Decision((0,), "test"), some, some, none, none)


def words(*given: str) -> tuple[Decision[str], ...]:
    return tuple(Decision(word, "test") for word in given)


def long_line(used: int) -> Subject:
    """Return a host with an environment block and a plan that adds 596 octets to it."""
    block = BootEnvironment("/boot/grub2/grubenv", used, 1024, "ro isolcpus=1-5")
    return planned(with_facts(boot_environment=block), kernel=words(f"isolcpus={'1,' * 299}1"))


PLATFORM_FAULTS = [
    Case(
        "WS65", "two CPUs",
        with_facts(smis=SmiCount(60.0, (CpuSmis(2, 4), CpuSmis(3, 7)), 312_000)),
        ("7 SMIs in 60 s on CPUs 2-3, the longest gap 312 us",), "dmidecode",
    ),
    Case(
        "WS65", "without a gap", with_facts(smis=SmiCount(5.0, (CpuSmis(2, 1), CpuSmis(3, 0)))),
        ("1 SMIs in 5 s on CPUs 2-3",),
    ),
    Case(
        "WS66", "PMD CPUs on the other half of the package", polled_by("0x38"),
        ("dpdk0: dpdk0 is on node 0; package 0 is split into nodes 0,2", "dpdk1: dpdk1 is on"),
        "SNC (sub-NUMA clusters) off",
    ),
    Case(
        "WS66", "planned with more nodes",
        planned(good_subject(), huge_pages=Decision((HugePages(3, 1 << 20, 4),), "test")),
        ("the plan has huge pages on NUMA nodes 3, the host has nodes 0-1",), "wirespeed inspect",
    ),
    Case(
        "WS66", "planned with other nodes", with_device(PF, node=1),
        (f"{PF}: {PF} is on NUMA node 1, the plan has it on node 0",),
    ),
    Case("WS67", "off", with_facts(ddio_ways=0), ("to 0 of the last-level",), "rdmsr"),
    Case("WS67", "one way", with_facts(ddio_ways=1), ("to 1 of the last-level",)),
    Case(
        "WS68", "untuned and lowered", with_facts(uncore=(UNTUNED, LOWERED)),
        ("package_00_die_00: from 0.8 GHz to 2.4 GHz",
         "package_01_die_00: from 1.8 GHz to 1.8 GHz"),
        "echo 2400000 > "
        "/sys/devices/system/cpu/intel_uncore_frequency/package_01_die_00/max_freq_khz",
    ),
    Case(
        "WS69", "turned off", weak("Vulnerable", OFF),
        ("open: mds; kernel command line: mitigations=off nopti",),
        "grubby --update-kernel=ALL '--remove-args=mitigations=off nopti'",
    ),
    Case(
        "WS69", "old microcode",
        weak("Vulnerable: Clear CPU buffers attempted, no microcode", "ro mitigations=auto"),
        ("open: mds",), "microcode_ctl",
    ),
    Case("WS69", "on the hypervisor's side", weak("KVM: Vulnerable"), ("open: mds",)),
    Case(
        "WS70", "irqbalance and tuned", running(
            "irqbalance", "tuned", tuned=Tuned(("realtime",), ("scheduler.isolated_cores",))
        ),
        ("interrupt affinities are written by tuned (profile realtime) and irqbalance",),
        "systemctl disable --now irqbalance.service",
    ),
    Case(
        "WS70", "three of the governor", planned(
            running("tuned", "tlp", tuned=Tuned(("mine",), ("cpu.governor",))), cores=_cores()
        ),
        ("written by wirespeed apply and tuned (profile mine) and tlp",), "tuned-adm profile NAME",
    ),
    Case(
        "WS70", "applied, and a plan is not given",
        replace(running("wirespeed-host", "irqbalance"), plan=None),
        ("written by wirespeed apply and irqbalance",),
    ),
    Case(
        "WS70", "kernel command line", planned(
            running("tuned", tuned=Tuned(("cpu-partitioning",), ("bootloader.cmdline_cpu",))),
            kernel=words("isolcpus=1-5"),
        ),
        ("the kernel command line is written by wirespeed apply and tuned",),
    ),
    Case(
        "WS71", "long list of CPUs", long_line(460),
        ("/boot/grub2/grubenv needs 1056 octets and has 1024",),
        "grubby --update-kernel=DEFAULT",
    ),
]  # fmt: skip

PLATFORM_UNDECIDABLE = [
    Case("WS65", "no counts", with_facts(smis=SmiCount(60.0, ())), ("modprobe msr",)),
    Case(
        "WS66", "PMD threads unknown",
        split(
            ovs=replace(good_facts().ovs, other_config={}, pmds=None),  # type: ignore[type-var]
            missing=(Missing("ovs.pmds", "needs root"),),
        ),
        ("needs root",),
    ),
    Case(
        "WS70", "profile of tuned unread",
        running("tuned", missing=(Missing("tuned", "profile mine has no tuned.conf"),)),
        ("profile mine has no tuned.conf",),
    ),
]  # fmt: skip
