# SPDX-License-Identifier: Apache-2.0
"""Find NICs whose NUMA node the firmware does not report."""

from __future__ import annotations

from wirespeed.audit.fixes import write_to
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    nics = [nic for nic in subject.facts.nics if nic.physical_function is None]
    lost = [nic for nic in nics if nic.node is None]
    if not lost:
        return Passed(f"all {len(nics)} NICs have a NUMA node")
    return [
        Problem(
            found=f"numa_node of {nic.address} ({', '.join(nic.interfaces) or nic.driver}) is -1",
            wanted="the node of the socket that its slot is wired to",
            fix=(
                "# update the BIOS or switch on NUMA (no node interleaving) in it; until then:",
                write_to(f"/sys/bus/pci/devices/{nic.address}/numa_node", "NODE"),
            ),
            subject=nic.address,
        )
        for nic in lost
    ]


RULE = Rule(
    id="WS14",
    name="nic-without-node",
    title="The firmware does not report a NIC's NUMA node",
    severity=Severity.MEDIUM,
    needs=(Need.MULTI_NODE, Need.PCI),
    wanted="numa_node of every NIC known on a host with several nodes",
    why="Open vSwitch, Nova and DPDK then place queues, guests and memory without regard to the "
    "NIC, in half of the cases on the wrong socket.",
    source="S3 appendix C, relation between NIC and NUMA socket; ACPI _PXM",
    check=check,
)
