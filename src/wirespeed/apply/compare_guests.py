# SPDX-License-Identifier: Apache-2.0
"""Compare a planned guest with the running one. libvirt and Nova start guests, not apply."""

from __future__ import annotations

import re
from typing import Any

from wirespeed.apply.finding import Found, absent, differs, same, unchecked
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.guest_facts import Guest
from wirespeed.model.plan.plan import GuestPlan, HostPlan
from wirespeed.model.plan.policy import InterfaceKind

_WHERE = re.compile(r"guests\[(.+?)\]\.(?:ports\[(.+)\]\.)?(\w+)")
_TO_COME = re.compile(r"(.+)/vf(\d+)")
_KINDS = {
    InterfaceKind.VHOST: {"vhostuser"},
    InterfaceKind.SRIOV: {"hostdev", "network"},
    InterfaceKind.MACVTAP: {"direct", "network"},
    InterfaceKind.VIRTIO: {"bridge"},
}


def compare_guest(host: HostPlan, facts: HostFacts, where: str, value: Any) -> Found:
    """Compare one decision. where: its name, which starts with guests[NAME]."""
    found = _WHERE.fullmatch(where)
    if found is None:
        return absent("a part of benches, not of hosts")
    name, port, what = found.groups()
    if what == "device":
        return _device(facts, value)
    planned = next(guest for guest in host.guests if guest.name == name)
    running = next((g for g in facts.guests or () if g.name == name), None)
    if running is None and (reason := facts.why_missing("guests")):
        return unchecked(reason)
    if running is None:
        return absent(f"{name} does not run: libvirt or Nova starts it")
    if port is not None:
        return _port(planned, running, port, what, value)
    pinned = {cpu for pin in running.pins for cpu in pin.cpus}
    return _cpus(pinned if what == "cpus" else set(running.emulator_cpus or ()), value)


def _device(facts: HostFacts, value: str) -> Found:
    """Check that the VF exists; its driver and its MAC are settings of their own."""
    to_come = _TO_COME.fullmatch(value)
    address = to_come[1] if to_come else value
    device = next((d for d in facts.pci if d.address == address), None)
    if device is None or (to_come and int(to_come[2]) >= device.sriov_num):
        return differs("no such VF")
    return same(value if to_come else f"{value} ({device.driver or 'no driver'})")


def _port(planned: GuestPlan, running: Guest, name: str, what: str, value: Any) -> Found:
    number = next(n for n, port in enumerate(planned.ports) if port.name == name)
    if number >= len(running.ports):
        return differs("no such port")
    port = running.ports[number]
    if what == "kind":
        return same(port.kind) if port.kind in _KINDS[value] else differs(port.kind)
    return same(str(port.queues)) if port.queues == value else differs(str(port.queues))


def _cpus(found: set[int], value: tuple[int, ...]) -> Found:
    text = format_list(found) or "none"
    return same(text) if found == set(value) else differs(text)
