# SPDX-License-Identifier: Apache-2.0
"""Name the network interfaces that must not be taken from a host, and what each carries.

These are the interfaces of login sessions, cluster agents, Nova's management address and default
routes, with their lower interfaces. All code that changes interfaces asks this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wirespeed.host.nova import management_address
from wirespeed.host.reader import Reader
from wirespeed.host.routes import default_route_interfaces, interface_towards, with_lower
from wirespeed.host.sessions import Connection, connections
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import Runner


def needed_interfaces(runner: Runner) -> Mapping[str, str]:
    """Map each needed interface to what it carries, e.g. "an ssh session from 192.0.2.7"."""
    reasons: dict[str, dict[str, None]] = {}
    for names, why in _needs(runner):
        for name in with_lower(runner, names):
            reasons.setdefault(name, {})[why] = None
    return {name: " and ".join(whys) for name, whys in reasons.items()}


def has_remote_login(runner: Runner) -> bool:
    """Return whether a user works on the host over its network. A console needs no network."""
    return any(each.login and interface_towards(runner, each.peer) != "lo" for each in
               connections(runner))  # fmt: skip


def _needs(runner: Runner) -> Iterator[tuple[set[str], str]]:
    holders = _holders(runner)
    for connection in connections(runner):
        yield _interfaces_of(runner, connection, holders), connection.why
    address = management_address(Reader(runner))
    if address is not None:
        yield holders.get(address, set()), f"Nova's management address {address}"
    yield default_route_interfaces(runner), "the default route"


def _interfaces_of(
    runner: Runner, connection: Connection, holders: Mapping[str, set[str]]
) -> set[str]:
    """Return the interfaces with a connection's local address and on the route to its peer."""
    if connection.interface:
        return {connection.interface}
    towards = interface_towards(runner, connection.peer)
    if towards == "lo":  # the peer is this host itself
        return set()
    return ({towards} if towards else set()) | holders.get(connection.local, set()) - {"lo"}


def _holders(runner: Runner) -> dict[str, set[str]]:
    """Map each address to the interfaces that have it."""
    done = runner.run(["ip", "-json", "address", "show"], check=False)
    shown: list[dict[str, Any]] = load_json(done.stdout or "[]")
    found: dict[str, set[str]] = {}
    for interface in shown:
        for address in interface.get("addr_info", ()):
            if "local" in address:
                found.setdefault(address["local"], set()).add(interface["ifname"])
    return found
