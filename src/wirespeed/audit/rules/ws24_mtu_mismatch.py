# SPDX-License-Identifier: Apache-2.0
"""Find ports whose MTU is not the requested one or differs along a frame's path."""

from __future__ import annotations

from wirespeed.audit.fixes import ovs_interface, ovs_look
from wirespeed.audit.needs import Need
from wirespeed.audit.ports import mtu, paths
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.ovs_facts import OvsInterface


def check(subject: Subject) -> Outcome:
    ovs = subject.facts.ovs
    all_paths = [
        [port for port in path if port.is_dpdk_port or port.is_vhost]
        for path in (paths(ovs) if ovs else ())
    ]
    ports = [port for path in all_paths for port in path]
    if not ports:
        return NotApplicable("no DPDK or vhost-user port")
    problems = [p for path in all_paths for p in (*_refused(path), *_narrow(path))]
    mtus = ", ".join(str(value) for value in sorted({mtu(port) for port in ports}))
    return problems or Passed(f"MTU {mtus}, the same along each path")


def _refused(path: list[OvsInterface]) -> list[Problem]:
    """Report ports whose device did not take the requested MTU."""
    return [
        Problem(
            found=f"{port.name} has MTU {port.mtu}, {port.mtu_request} is requested",
            wanted=f"MTU {port.mtu_request}, or a request that the device can meet",
            fix=(ovs_look(port.name, "status:max_rx_pktlen", "error"),),
            subject=port.name,
        )
        for port in path
        if port.mtu and port.mtu_request and port.mtu != port.mtu_request
    ]


def _narrow(path: list[OvsInterface]) -> list[Problem]:
    """Report ports that cannot forward what another port of the path receives."""
    # A guest port without a running guest has no MTU yet, so the requested MTU counts.
    known = [port for port in path if port.mtu or port.mtu_request or port.is_dpdk_port]
    widest = max((mtu(port) for port in known), default=0)
    return [
        Problem(
            found=f"{port.name} has MTU {mtu(port)}, another port of its path {widest}",
            wanted=f"MTU {widest} on every port of the path",
            fix=ovs_interface(port.name, f"mtu_request={widest}"),
            subject=port.name,
        )
        for port in known
        if mtu(port) < widest and not (port.mtu and port.mtu_request and port.mtu_request == widest)
    ]


RULE = Rule(
    id="WS24",
    name="mtu-mismatch",
    title="The MTU differs along a path",
    severity=Severity.HIGH,
    needs=(Need.DPDK,),
    wanted="one MTU on all DPDK and vhost-user ports that reach each other, and mtu = mtu_request",
    why="Open vSwitch does not fragment: a frame longer than the next port's MTU is dropped and "
    "counted as ovs_tx_mtu_exceeded_drops.",
    source="S3 appendix C; Open vSwitch, jumbo frames",
    check=check,
)
