# SPDX-License-Identifier: Apache-2.0
"""Faults by mechanism that an administrator of Open vSwitch can cause while frames flow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wirespeed.bench.switch.ovs_dpdk.part import OvsDpdk

# Above the rules of a bench.
_ABOVE = 200


def _in_port(switch: OvsDpdk) -> int:
    """Return the port number at which the generator's frames arrive."""
    return switch.bridges[0].ports[0].number


@contextmanager
def added_rule(switch: OvsDpdk, match: str, actions: str) -> Iterator[None]:
    rule = f"priority={_ABOVE},in_port={_in_port(switch)}{match}"
    switch.control.ofctl("add-flow", f"{rule},actions={actions}")
    yield


@contextmanager
def changed_rule(switch: OvsDpdk, actions: str) -> Iterator[None]:
    """Replace the actions of all rules of the generator's port."""
    switch.control.ofctl("mod-flows", f"in_port={_in_port(switch)},actions={actions}")
    yield


@contextmanager
def deleted_rules(switch: OvsDpdk) -> Iterator[None]:
    """All rules of that port that forward; its drop rule stays."""
    for rule in _rules(switch):
        match = rule.partition(",in_port=")[2].partition(",actions=")[0]
        switch.control.ofctl("del-flows", f"in_port={match}")
    yield


def _rules(switch: OvsDpdk) -> list[str]:
    """Those that forward what comes in by that port."""
    shown = switch.control.ask("bridge/dump-flows", switch.bridges[0].name)
    begin = f"priority=100,in_port={_in_port(switch)},"
    return [line.strip() for line in shown.splitlines() if begin in line]


@contextmanager
def meter(switch: OvsDpdk, rate_fps: int) -> Iterator[None]:
    [action, *_] = actions_of(switch)
    switch.control.ofctl("add-meter", f"meter=1,pktps,band=type=drop,rate={rate_fps}")
    with added_rule(switch, "", f"meter:1,{action}"):
        yield


@contextmanager
def group(switch: OvsDpdk) -> Iterator[None]:
    """Send all frames to a select group of two buckets, one of which drops."""
    [action, *_] = actions_of(switch)
    buckets = f"bucket=weight=1,actions={action},bucket=weight=1,actions=drop"
    switch.control.ofctl("add-group", f"group_id=1,type=select,selection_method=hash,{buckets}")
    with added_rule(switch, "", "group:1"):
        yield


def actions_of(switch: OvsDpdk) -> list[str]:
    """Return what the rules do with frames that come in by that port."""
    return [rule.partition("actions=")[2] for rule in _rules(switch)]


@contextmanager
def moved_port(switch: OvsDpdk, how: str) -> Iterator[None]:
    """Stop a port: down or no-forward of that to the generator, no-receive of that from it."""
    at = 0 if how == "no-receive" else 1
    switch.control.ofctl("mod-port", switch.bridges[0].ports[at].name, how)
    yield


@contextmanager
def interface(switch: OvsDpdk, setting: str) -> Iterator[None]:
    switch.control.vsctl("set", "Interface", switch.bridges[0].ports[1].name, setting)
    yield


@contextmanager
def policed(switch: OvsDpdk, kbps: int) -> Iterator[None]:
    name = switch.bridges[0].ports[0].name
    switch.control.vsctl("set", "Interface", name, f"ingress_policing_rate={kbps}",
                         f"ingress_policing_burst={kbps // 10}")  # fmt: skip
    yield


@contextmanager
def other_config(switch: OvsDpdk, key: str, value: str) -> Iterator[None]:
    switch.control.vsctl("set", "Open_vSwitch", ".", f"other_config:{key}={value}")
    yield
