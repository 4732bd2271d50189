# SPDX-License-Identifier: Apache-2.0
"""Find the interfaces of a host's routes, and the lower interfaces below an interface.

Source: fib_route_seq_show and rt6_info_route in Linux, which write the two files of routes.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wirespeed.model.input.bounded import load_json
from wirespeed.model.input.fault import show
from wirespeed.remote.interface import Runner

_V4, _V6 = DEFAULT_ROUTES = ("/proc/net/route", "/proc/net/ipv6_route")
# The first line of IPv4's has titles.
_FORMS = {
    _V4: (4, re.compile(
        r"Iface\s+Destination\s.*|(?P<interface>\S+)\t(?P<to>[0-9A-F]{8})\t[0-9A-F]{8}\t"
        r"[0-9A-F]{4}\t\d+\t\d+\t(?P<metric>-?[0-9]{1,10})\t(?P<mask>[0-9A-F]{8})(?:\t.*)?"
    ), 10),
    _V6: (6, re.compile(
        r"(?P<to>[0-9a-f]{32}) (?P<mask>[0-9a-f]{2}) [0-9a-f]{32} [0-9a-f]{2} [0-9a-f]{32} "
        r"(?P<metric>[0-9a-f]{8}) [0-9a-f]{8} [0-9a-f]{8} [0-9a-f]{8} +(?P<interface>\S+)"
    ), 16),
}  # fmt: skip


@dataclass(frozen=True, slots=True, order=True)
class DefaultRoute:
    """A default route; the kernel takes the one of the lowest metric of its IP version."""

    version: int
    metric: int
    interface: str


def default_routes(files: Mapping[str, str]) -> tuple[list[DefaultRoute], list[str]]:
    """Read the default routes of DEFAULT_ROUTES. Also returns what the kernel did not write.

    files: the content of those of the files that the host has, by path.
    """
    routes, odd = [], []
    for path, (version, form, base) in _FORMS.items():
        for line in filter(None, files.get(path, "").split("\n")):
            found = form.fullmatch(line)
            if not found:
                odd.append(f"{path}: {show(line)} is not a route")
            elif found["to"] and not (found["to"] + found["mask"]).strip("0"):
                routes.append(DefaultRoute(version, int(found["metric"], base), found["interface"]))
    routes = [route for route in routes if route.interface != "lo"]
    return routes, odd


def default_route_interfaces(runner: Runner) -> set[str]:
    """Return the interfaces of default routes."""
    answers = runner.read_many(DEFAULT_ROUTES)
    files = {path: text for path, text in answers.items() if isinstance(text, str)}
    return {route.interface for route in default_routes(files)[0]}


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
