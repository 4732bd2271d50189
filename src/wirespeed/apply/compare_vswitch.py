# SPDX-License-Identifier: Apache-2.0
"""Compare a planned value with the value in Open vSwitch."""

from __future__ import annotations

from typing import Any

from wirespeed.apply.finding import Found, absent, differs, same
from wirespeed.model.cpuset import format_list, parse_mask
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.ovs_facts import OvsFacts, OvsInterface

_KEYS = {"main_cpus": "dpdk-lcore-mask", "pmd_cpus": "pmd-cpu-mask"}
_OPTIONS = {"rx_queues": "n_rxq", "descriptors": "n_rxq_desc"}


def compare_vswitch(facts: HostFacts, what: str, value: Any) -> Found:
    """Compare one decision. what: a field of VswitchPlan."""
    ovs = facts.ovs
    if ovs is None:
        return differs("", f"no Open vSwitch runs here{_why(facts)}")
    if what in _KEYS:
        return _cpus(ovs, _KEYS[what], value)
    if what == "socket_memory_mib":
        return _text(ovs.other_config.get("dpdk-socket-mem"), ",".join(map(str, value)))
    if what == "memory_channels":
        return _text(ovs.other_config.get("dpdk-extra"), f"-n {value}")
    ports = [port for port in ovs.interfaces if port.is_dpdk_port]
    if not ports:
        return absent("no DPDK port is on a bridge")
    return _ports(ports, what, value)


def _cpus(ovs: OvsFacts, key: str, cpus: tuple[int, ...]) -> Found:
    mask = ovs.other_config.get(key)
    if mask is None:
        return differs("not set")
    found = parse_mask(mask)
    text = format_list(found)
    return same(text) if set(found) == set(cpus) else differs(text)


def _text(found: str | None, wanted: str) -> Found:
    return same(wanted) if found == wanted else differs(found or "not set")


def _ports(ports: list[OvsInterface], what: str, value: Any) -> Found:
    """Compare a value of all DPDK ports: the requested one, or for the MTU the largest one."""
    if what == "mtu":
        found = {port.mtu_request or port.mtu or 0 for port in ports}
        text = ", ".join(map(str, sorted(found)))
        return same(text) if max(found) == value else differs(text)
    texts = {port.options.get(_OPTIONS[what], "not set") for port in ports}
    text = ", ".join(sorted(texts))
    errors = "; ".join(f"{port.name}: {port.error}" for port in ports if port.error)
    if texts != {str(value)}:
        return differs(text, errors)
    return differs(text, errors) if errors else same(text)


def _why(facts: HostFacts) -> str:
    reason = facts.why_missing("ovs")
    return f": {reason}" if reason else ""
