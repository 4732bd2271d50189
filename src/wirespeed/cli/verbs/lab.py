# SPDX-License-Identifier: Apache-2.0
"""wirespeed lab: run emulated two-socket servers here, to try multi-host commands on."""

from __future__ import annotations

import json as json_text
import os
import time
from typing import Annotated

import typer
from rich.table import Table

from wirespeed.bench.host.leftovers import drop_leftovers
from wirespeed.cli.console import plain_console, print_json, print_line
from wirespeed.cli.input.options import JsonOption
from wirespeed.image.cache import ImageCache, images_directory
from wirespeed.lab.lab import Lab
from wirespeed.lab.machine import MEMORY_GIB
from wirespeed.lab.node import Node
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.state import state_directory

NodeArgument = Annotated[str, typer.Argument(metavar="NODE", help="lab1 or lab2.")]


def up(
    nodes: Annotated[
        int, typer.Option("--nodes", help="Number of nodes: 1, or 2 that are cabled to each other.")
    ] = 2,
    cpus: Annotated[
        int, typer.Option("--cpus", help="CPUs of each node: 4, 8, 12 or 16, in two sockets.")
    ] = 8,
    memory: Annotated[
        int,
        typer.Option(
            "--memory", help="GiB of memory for each of a node's two NUMA nodes, 4 or more."
        ),
    ] = MEMORY_GIB,
) -> None:
    """Start the lab, and wait until its nodes answer. Needs QEMU 8 or newer, but no KVM."""
    started = time.monotonic()
    there = _lab()
    images = ImageCache(images_directory(os.environ), LocalRunner())
    made = there.up(images, nodes=nodes, cpus=cpus, memory_gib=memory, say=print_line)
    print_line(f"{', '.join(node.name for node in made)}: up in {time.monotonic() - started:.0f} s")
    print_line(f"wirespeed inspect --host ssh://{made[0].name}")
    print_line(f"ssh -F {made[0].config} {made[0].name}")
    if len(made) > 1:
        print_line(f"wirespeed run STUDY --lab {there.file}")


def down() -> None:
    """Stop the lab and remove its files, its nodes' disks included."""
    there = _lab()
    addresses = [there.address(node) for node in there.nodes]
    lines = there.down()
    for address in addresses:
        # The hosts are gone, so nothing is left to undo.
        drop_leftovers(there.state, address)
    for line in lines or ("Nothing to end: the lab is down.",):
        print_line(line)


def status(*, json: JsonOption = False) -> None:
    """Show the lab's nodes, and how each is reached."""
    there = _lab()
    nodes = there.nodes
    if json:
        found = {"up": there.is_up, "nodes": [_as_json(node) for node in nodes]}
        print_json(json_text.dumps(found, indent=2))
        return
    if not nodes:
        print_line("The lab is down. `wirespeed lab up` starts it.")
        return
    table = Table(box=None, pad_edge=False)
    for column in ("node", "state", "CPUs", "memory", "address", "console"):
        table.add_column(column, overflow="fold")
    for node in nodes:
        spec = node.spec
        memory = f"{spec.memory_bytes >> 30} GiB"
        table.add_row(
            node.name, _state(node), str(spec.cpus), memory, f"ssh://{node.name}", str(node.console)
        )  # fmt: skip
    plain_console().print(table)
    if not there.is_up:
        print_line("`wirespeed lab up` has not finished, or every node has ended.")


def reboot(node: NodeArgument) -> None:
    """Reboot a node and wait until it answers again."""
    started = time.monotonic()
    _lab().reboot(node)
    print_line(f"{node}: rebooted in {time.monotonic() - started:.0f} s")


def power_cycle(node: NodeArgument) -> None:
    """Cut a node's power, restore it and wait until the node answers. Its disks stay."""
    started = time.monotonic()
    _lab().power_cycle(node)
    print_line(f"{node}: back in {time.monotonic() - started:.0f} s")


def _lab() -> Lab:
    return Lab(state_directory(os.environ), LocalRunner())


def _as_json(node: Node) -> dict[str, object]:
    return {
        "node": node.name, "running": node.running, "pid": node.pid, "cpus": node.spec.cpus,
        "memory_bytes": node.spec.memory_bytes, "address": f"ssh://{node.name}",
        "console": str(node.console),
    }  # fmt: skip


def _state(node: Node) -> str:
    return f"running ({node.pid})" if node.running else "ended"
