# SPDX-License-Identifier: Apache-2.0
"""Which network interfaces must not be taken from a host, because it is reached through them?"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable

from wirespeed.remote.interface import Runner


def default_route_interfaces(runner: Runner) -> set[str]:
    """The interfaces of default routes, and what lies beneath (bonds, bridges, VLANs)."""
    found: set[str] = set()
    files = runner.read_many(["/proc/net/route", "/proc/net/ipv6_route"])
    v4, v6 = (text if isinstance(text, str) else "" for text in files.values())
    for fields in map(str.split, v4.splitlines()[1:]):
        if len(fields) > 7 and fields[1] == fields[7] == "00000000":
            found.add(fields[0])
    for fields in map(str.split, v6.splitlines()):
        if len(fields) > 9 and (fields[0], fields[1]) == ("0" * 32, "00") and fields[9] != "lo":
            found.add(fields[9])
    return with_lower(runner, found)


def interfaces_towards(runner: Runner, address: str) -> set[str]:
    """The interface through which packets to this address leave, and what lies beneath."""
    done = runner.run(["ip", "-json", "route", "get", address], check=False)
    try:
        device = json.loads(done.stdout)[0]["dev"]
    except (ValueError, LookupError):  # no route there
        return set()
    return with_lower(runner, {device} - {"lo"})


def with_lower(runner: Runner, names: Iterable[str]) -> set[str]:
    """These interfaces and those that they are made of."""
    found = set(names)
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        for lower in runner.glob(f"/sys/class/net/{name}/lower_*"):
            below = posixpath.basename(lower).removeprefix("lower_")
            if below not in found:
                found.add(below)
                waiting.append(below)
    return found
