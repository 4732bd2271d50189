# SPDX-License-Identifier: Apache-2.0
"""Find the interfaces of a host's routes, and the lower interfaces below an interface."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from wirespeed.model.bounded import load_json
from wirespeed.remote.interface import Runner


def default_route_interfaces(runner: Runner) -> set[str]:
    """Return the interfaces of default routes."""
    found: set[str] = set()
    files = runner.read_many(["/proc/net/route", "/proc/net/ipv6_route"])
    v4, v6 = (text if isinstance(text, str) else "" for text in files.values())
    for fields in map(str.split, v4.splitlines()[1:]):
        if len(fields) > 7 and fields[1] == fields[7] == "00000000":
            found.add(fields[0])
    for fields in map(str.split, v6.splitlines()):
        if len(fields) > 9 and (fields[0], fields[1]) == ("0" * 32, "00") and fields[9] != "lo":
            found.add(fields[9])
    return found


def interface_towards(runner: Runner, address: str) -> str | None:
    """Return the interface through which packets to this address leave; None without a route.

    The interface is "lo" for an address of the host itself.
    """
    done = runner.run(["ip", "-json", "route", "get", address], check=False)
    try:
        return str(load_json(done.stdout)[0]["dev"])
    except (ValueError, LookupError):
        return None


def with_lower(runner: Runner, names: Iterable[str]) -> set[str]:
    """Return these interfaces and all interfaces below them.

    Below are members of bonds and bridges, the parent of a VLAN, the PF of a VF, and, for internal
    ports of Open vSwitch's kernel datapath, the ports of that datapath.
    """
    found = set(names)
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        net = f"/sys/class/net/{name}"
        lower = runner.glob(f"{net}/lower_*")
        below = {posixpath.basename(path).removeprefix("lower_") for path in lower}
        below |= set(map(posixpath.basename, runner.glob(f"{net}/device/physfn/net/*")))
        below |= _datapath_ports(runner, name)
        waiting += below - found
        found |= below
    return found


def _datapath_ports(runner: Runner, name: str) -> set[str]:
    """Return all ports of the kernel datapath: its flows decide which one carries a frame."""
    if not runner.glob("/sys/class/net/ovs-system"):
        return set()
    done = runner.run(["ip", "-json", "-details", "link", "show"], check=False)
    links = load_json(done.stdout or "[]")
    kinds = {link["ifname"]: link.get("linkinfo", {}).get("info_kind") for link in links}
    if kinds.get(name) != "openvswitch" or name == "ovs-system":
        return set()
    return {link["ifname"] for link in links if link.get("master") == "ovs-system"}
