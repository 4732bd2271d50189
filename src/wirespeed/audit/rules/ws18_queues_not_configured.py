# SPDX-License-Identifier: Apache-2.0
"""Find ports that do not have the requested number of queues."""

from __future__ import annotations

from wirespeed.audit.fixes import comment, ovs_interface, ovs_look
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.ovs_facts import OvsInterface

MORE_TX = comment(
    "more tx queues come with the number of PMD threads: lower pmd-cpu-mask or use a device with "
    "more queues"
)


def check(subject: Subject) -> Outcome:
    ovs = subject.facts.ovs
    ports = [i for i in (ovs.interfaces if ovs else ()) if i.requested_rx_queues is not None]
    if not ports:
        return NotApplicable("no port has a requested number of queues")
    differing = [(i, kind, a, b) for i in ports for kind, a, b in _pairs(i) if a != b]
    if not differing:
        return Passed(f"all {len(ports)} ports have the requested queues")
    return [
        Problem(
            found=f"{interface.name} has {configured} {kind} queues, {requested} are requested",
            wanted=f"{requested} {kind} queues, or a request the device can meet",
            fix=(
                ovs_look(interface.name, "status", note="what the device can do"),
                *(
                    ovs_interface(interface.name, f"options:n_rxq={configured}")
                    if kind == "rx"
                    else (MORE_TX,)
                ),
            ),
            subject=interface.name,
        )
        for interface, kind, requested, configured in differing
    ]


def _pairs(interface: OvsInterface) -> list[tuple[str, int, int]]:
    """Return (type, requested, configured) of the rx and tx queues where both numbers are known."""
    pairs = [
        ("rx", interface.requested_rx_queues, interface.configured_rx_queues),
        ("tx", interface.requested_tx_queues, interface.configured_tx_queues),
    ]
    return [(kind, a, b) for kind, a, b in pairs if a is not None and b is not None]


RULE = Rule(
    id="WS18",
    name="queues-not-configured",
    title="A port has another number of queues than requested",
    severity=Severity.HIGH,
    needs=(Need.DPDK, Need.PMDS),
    wanted="configured queues equal to requested queues",
    why="The device could not create them and Open vSwitch continued with fewer: threads planned "
    "for the missing queues are idle, the others are overloaded.",
    source="S3 figure 9; Open vSwitch, dpctl/show --statistics",
    check=check,
)
