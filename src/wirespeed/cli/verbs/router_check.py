# SPDX-License-Identifier: Apache-2.0
"""Compare the tables of a router with the kernel's routes (`wirespeed router check`)."""

from __future__ import annotations

import time
from ipaddress import ip_network
from typing import Annotated

import typer

from wirespeed.cli.console import print_line
from wirespeed.model.errors import WirespeedError
from wirespeed.model.words import counted
from wirespeed.remote.local import LocalRunner
from wirespeed.sources.errors import NoAnswer
from wirespeed.sources.router_check import (
    RouteDifference,
    TableComparison,
    compare_tables,
    router_tasks,
)
from wirespeed.sources.telemetry import Telemetry
from wirespeed.sources.telemetry_sockets import telemetry_sockets

# A full table takes some seconds to read and compare.
_TIMEOUT_S = 120.0
# Routes that change while they are compared differ once, and not in the next comparison.
_COMPARISONS = 3
_PAUSE_S = 1.0
_SHOWN = 20


def check(
    *,
    telemetry: Annotated[
        str | None,
        typer.Option(
            metavar="SOCKET", help="Telemetry socket of wsdp. Default: the only one with a router."
        ),
    ] = None,
    task: Annotated[
        str | None, typer.Option(metavar="TASK", help="Task of type router. Default: the only one.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help=f"Print all differences, not only {_SHOWN}.")
    ] = False,
) -> None:
    """Compare every route of the kernel with the tables of the wsdp router that follows it."""
    connection, name = _find(telemetry, task)
    try:
        found, lasting = _lasting(connection, name)
    finally:
        connection.close()
    _print_left_to_kernel(name, found)
    _print_memory(name, found)
    compared = f"{counted(found.prefixes, 'route')} and {found.samples} random addresses"
    if not lasting:
        print_line(f"{name}: {compared}, all as in the kernel")
        return
    print_line(f"{name}: {counted(len(lasting), 'difference')} in {compared}")
    shown = lasting if every else lasting[:_SHOWN]
    for each in shown:
        vrf = f" in VRF {each.vrf}" if each.vrf else ""
        print_line(f"  {each.prefix}{vrf}: kernel: {each.kernel}; wsdp: {each.fib}")
    if len(shown) < len(lasting):
        print_line(f"  and {len(lasting) - len(shown)} more: --all prints them")
    raise typer.Exit(1)


def _print_left_to_kernel(task: str, found: TableComparison) -> None:
    over = [
        counted(number, noun)
        for number, noun in (
            (found.neighbours_over_hops, "neighbour"), (found.routes_over_hops, "route")
        )
        if number
    ]  # fmt: skip
    if over:
        print_line(
            f"{task}: {' and '.join(over)} not mirrored: all next hops of the tables are in use, "
            "so the kernel forwards"
        )


def _print_memory(task: str, found: TableComparison) -> None:
    if not found.in_place:
        return
    print_line(f"{task}: no memory for a second copy of the tables; those in force are changed")
    if found.routes_without_room:
        print_line(
            f"{task}: no room for {counted(found.routes_without_room, 'route')}; "
            "give wsdp more huge pages"
        )


def _find(path: str | None, task: str | None) -> tuple[Telemetry, str]:
    """Return a connection to the program, and the name of its task."""
    paths = [path] if path is not None else list(telemetry_sockets(LocalRunner()))
    found: list[tuple[str, str]] = []
    for each in paths:
        try:
            connection = Telemetry(LocalRunner(), each, _TIMEOUT_S)
        except OSError as fault:
            if path is not None:
                raise WirespeedError(
                    f"{path}: {fault.strerror or fault}", "Name the socket of a running wsdp."
                ) from fault
            continue
        try:
            found += [(each, name) for name in router_tasks(connection) if task in (None, name)]
        except NoAnswer:
            if path is not None:
                raise
        finally:
            connection.close()
    if len(found) != 1:
        listed = ", ".join(f"{name} on {where}" for where, name in found) or "none"
        raise WirespeedError(
            f"one task of type router is needed; found: {listed}",
            "Start wsdp with one, or choose with --telemetry and --task.",
        )
    where, name = found[0]
    return Telemetry(LocalRunner(), where, _TIMEOUT_S), name


def _lasting(connection: Telemetry, task: str) -> tuple[TableComparison, list[RouteDifference]]:
    """Compare until nothing differs or time is up; return what differed in all comparisons."""
    found = compare_tables(connection, task)
    lasting = found.differences
    for _ in range(_COMPARISONS - 1):
        if not lasting:
            break
        time.sleep(_PAUSE_S)
        found = compare_tables(connection, task)
        lasting &= found.differences
    return found, sorted(lasting, key=_by_prefix)


def _by_prefix(difference: RouteDifference) -> tuple[str, int, int, int]:
    network = ip_network(difference.prefix)
    return difference.vrf, network.version, int(network.network_address), network.prefixlen
