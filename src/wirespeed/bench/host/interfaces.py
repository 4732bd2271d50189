# SPDX-License-Identifier: Apache-2.0
"""Dedicate kernel interfaces to a bench as ports, and return them."""

from __future__ import annotations

from collections.abc import Iterable

from wirespeed.bench.host.host import Host
from wirespeed.bench.host.network_changes import InterfaceSet
from wirespeed.model.input.bounded import load_json


def give_interfaces_to_bench(host: Host, names: Iterable[str], mtu: int) -> None:
    """Bring each interface up with this MTU, and keep the kernel from sending on it."""
    for name in names:
        # IPv6 neighbour discovery would add frames that the generator did not offer.
        host.set_sysctl_file(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "1")
        [seen] = load_json(host.runner.run(["ip", "-json", "link", "show", "dev", name]).stdout)
        flags = seen["flags"]
        host.note(InterfaceSet(name, "UP" in flags, int(seen["mtu"]), "PROMISC" in flags))
        host.runner.run(["ip", "link", "set", name, "mtu", str(mtu), "up"])
