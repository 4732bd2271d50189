# SPDX-License-Identifier: Apache-2.0
"""Find ports that carry jumbo frames with short descriptor rings."""

from __future__ import annotations

from wirespeed.audit.fixes import ovs_interface
from wirespeed.audit.needs import Need
from wirespeed.audit.ports import dpdk_ports, mtu, rx_descriptors, tx_descriptors
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

STANDARD_MTU = 1500
WANTED_DESCRIPTORS = 4096


def check(subject: Subject) -> Outcome:
    jumbo = [port for port in dpdk_ports(subject.facts) if mtu(port) > STANDARD_MTU]
    if not jumbo:
        return NotApplicable(f"no DPDK port has an MTU above {STANDARD_MTU}")
    shallow = [
        port
        for port in jumbo
        if min(rx_descriptors(port), tx_descriptors(port)) < WANTED_DESCRIPTORS
    ]
    if not shallow:
        return Passed(f"all {len(jumbo)} jumbo ports have {WANTED_DESCRIPTORS} descriptors")
    return [
        Problem(
            found=f"{port.name} has {rx_descriptors(port)} rx and {tx_descriptors(port)} tx "
            f"descriptors at MTU {mtu(port)}",
            wanted=f"{WANTED_DESCRIPTORS} each",
            fix=ovs_interface(
                port.name,
                f"options:n_rxq_desc={WANTED_DESCRIPTORS}",
                f"options:n_txq_desc={WANTED_DESCRIPTORS}",
            ),
            subject=port.name,
        )
        for port in shallow
    ]


RULE = Rule(
    id="WS17",
    name="few-descriptors-jumbo",
    title="A port with jumbo frames has short rings",
    severity=Severity.MEDIUM,
    needs=(Need.DPDK,),
    wanted=f"{WANTED_DESCRIPTORS} rx and tx descriptors on ports with an MTU above {STANDARD_MTU}",
    why="A frame larger than an mbuf takes several descriptors, so the ring is full after a "
    "shorter pause of the PMD thread, and frames are lost.",
    source="S3 appendix C, DPDK Tx and Rx descriptor size, and figure 9",
    check=check,
)
