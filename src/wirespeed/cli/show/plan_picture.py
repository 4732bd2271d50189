# SPDX-License-Identifier: Apache-2.0
"""Print a plan on a terminal."""

from __future__ import annotations

import dataclasses
import json as json_text
from collections.abc import Sequence

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table

from wirespeed.cli.console import Text, print_json
from wirespeed.model.cpuset import format_list, format_mask
from wirespeed.model.plan.plan import CorePlan, HostPlan, NodeCores, Plan
from wirespeed.plan.diff import Difference, Effort, needs_reboot
from wirespeed.plan.host.switches import PLANNED

# A letter for terminals without colour, its meaning, and a style.
_MARKS = {
    "h": ("housekeeping", ""),
    "V": ("vSwitch", "cyan"),
    "P": ("PMD", "bold magenta"),
    "G": ("guest", "bold green"),
    "E": ("emulator threads", "green"),
    "g": ("for guests, free", "dim green"),
    "s": ("for floating vCPUs", "blue"),
    "-": ("idle", "dim"),
}


def print_plan(plan: Plan, console: Console) -> None:
    """Print one panel for each host, then guests that did not fit, then warnings."""
    for host in plan.hosts:
        console.print(_host_panel(host, _polling(plan, host)))
    console.print(Text(_legend(plan), style="dim"))
    for lost in plan.unplaced:
        console.print(Text(f"\n{lost.guest} fits nowhere:", style="bold red"))
        for lack in lost.shortages:
            where = f"node {lack.node}" if lack.node is not None else "host"
            names = ", ".join(lack.hosts[:3]) + (" ..." if len(lack.hosts) > 3 else "")
            what = f"{lack.resource}: needs {lack.needed}, has {lack.available}"
            console.print(Text(f"  {names}, {where}: {what}"))
        help_ = lost.change or "none; not even two changes of the guest together help"
        console.print(Text(f"  smallest change: {help_}"))
    for warning in plan.warnings:
        console.print(Text(f"note: {warning}", style="yellow"))


def print_differences(
    found: Sequence[Difference], console: Console, *, as_json: bool, same: str
) -> None:
    """Print changes, grouped by what they require. same: text if there are none."""
    if as_json:
        print_json(json_text.dumps([dataclasses.asdict(d) for d in found], indent=1))
        return
    if not found:
        console.print(same)
        return
    table = Table(box=None, pad_edge=False)
    for column in ("takes", "where", "what", "old", "new", "because"):
        table.add_column(column, overflow="fold")
    for effort in Effort:
        for d in found:
            if d.effort is effort:
                values = (d.old or "-", d.new or "-", d.because)
                table.add_row(*map(Text, (str(effort), d.where, d.what, *values)))
    console.print(table)
    reboots = needs_reboot(found)
    text = f"Reboot: {', '.join(reboots)}." if reboots else "No host needs a reboot."
    console.print(Text(text, style="bold"))


def _legend(plan: Plan) -> str:
    """Return the meaning of the letters that were drawn."""
    drawn = {
        letter
        for host in plan.hosts
        if host.cores
        for letter in _owners(host, host.cores, _polling(plan, host)).values()
    }
    words = {mark: words for mark, (words, _) in _MARKS.items() if mark in drawn}
    kinds = dict.fromkeys(h.vswitch.deployed_kind for h in plan.hosts if h.vswitch)
    if "V" in words:
        words["V"] = " or ".join(PLANNED[kind].control for kind in kinds)
    return ", ".join(f"{mark} {meaning}" for mark, meaning in words.items())


def _polling(plan: Plan, host: HostPlan) -> tuple[int, ...]:
    """Return the CPUs of PMD threads on a node of a pool; other hosts have them in vswitch."""
    pools = (pool.ovs_cpus for pool in plan.pools if host.host in pool.hosts)
    return next((cpus.value for cpus in pools if cpus), ())


def _host_panel(host: HostPlan, polling: tuple[int, ...]) -> Panel:
    parts: list[RenderableType] = []
    if host.cores:
        owners = _owners(host, host.cores, polling)
        for node in host.cores.nodes:
            parts.append(Text(f"NUMA node {node.node}", style="bold"))
            parts.append(_node_cores(node, owners))
    parts.append(_values(host))
    if host.nics:
        parts.append(_nic_table(host))
    if host.guests:
        parts.append(_guest_table(host))
    if host.pods:
        parts.append(_pod_table(host))
    return Panel(Group(*parts), title=Text(host.host), title_align="left")


def _owners(host: HostPlan, cores: CorePlan, polling: tuple[int, ...]) -> dict[int, str]:
    """Return the letter of each CPU's owner."""
    owned = dict.fromkeys(cores.dedicated.value, "g")
    owned |= dict.fromkeys(cores.shared.value, "s")
    owned |= dict.fromkeys(cores.idle.value, "-")
    owned |= dict.fromkeys(polling, "P")
    for pod in host.pods:
        owned |= {cpu: "G" for container in pod.containers for cpu in container.cpus}
    if host.vswitch:
        owned |= dict.fromkeys(host.vswitch.main_cpus.value, "V")
        owned |= dict.fromkeys(host.vswitch.pmd_cpus.value, "P")
    owned |= dict.fromkeys(cores.housekeeping.value, "h")
    for guest in host.guests:
        for node in guest.nodes:
            owned |= {cpu: "G" for _, cpu in node.pins}
        if guest.emulator_cpus:
            alone = set(guest.emulator_cpus.value) & set(cores.dedicated.value)
            owned |= dict.fromkeys(alone, "E")
    return owned


def _node_cores(node: NodeCores, owners: dict[int, str]) -> Columns:
    width = len(str(max(owners, default=0)))
    cells = []
    for core in node.cores:
        text = Text()
        for cpu in core:
            letter = owners.get(cpu, "-")
            text.append(f"{cpu:>{width}}{letter} ", style=_MARKS[letter][1])
        cells.append(text)
    return Columns(cells, padding=(0, 2))


def _values(host: HostPlan) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    pages = ", ".join(
        f"node {p.node}: {p.count} of {p.size_kib // 1024} MiB" for p in host.huge_pages.value
    )
    table.add_row("huge pages", pages or "none")
    if host.vswitch:
        switch = host.vswitch
        memory = ",".join(map(str, switch.socket_memory_mib.value))
        table.add_row("PMD threads", f"{format_list(switch.pmd_cpus.value)}  "
                      f"(mask {format_mask(switch.pmd_cpus.value)})")  # fmt: skip
        model = f", model {switch.memory_model}" if switch.memory_model else ""
        table.add_row("DPDK memory", f"{memory} MiB{model}")
        table.add_row("queues", f"{switch.rx_queues.value} rx, {switch.descriptors.value} "
                      f"descriptors, MTU {switch.mtu.value}")  # fmt: skip
    if host.kernel:
        table.add_row("kernel", " ".join(word.value for word in host.kernel))
    return table


def _nic_table(host: HostPlan) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("NIC", "node", "use", "network", "driver", "VFs"):
        table.add_column(column)
    for nic in host.nics:
        node = "?" if nic.node is None else str(nic.node)
        vfs = str(nic.vfs.value) if nic.vfs.value else ""
        table.add_row(nic.address, node, str(nic.use), nic.network, nic.driver.value, vfs)
    return table


def _pod_table(host: HostPlan) -> Table:
    """Return what the kubelet gives each container."""
    table = Table(box=None, pad_edge=False)
    for column in ("pod", "container", "CPUs", "nodes", "VFs"):
        table.add_column(column, overflow="fold")
    for pod in host.pods:
        for one in pod.containers:
            cpus = format_list(one.cpus) or "shared"
            nodes = ",".join(map(str, one.nodes)) or "any"
            table.add_row(*map(Text, (pod.name, one.name, cpus, nodes, " ".join(one.devices))))
    return table


def _guest_table(host: HostPlan) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("guest", "vCPUs", "memory", "nodes", "CPUs", "ports"):
        table.add_column(column, overflow="fold")
    for guest in host.guests:
        nodes = ",".join(str(node.node) for node in guest.nodes) or "any"
        ports = [f"{p.name}: {p.kind.value} on {p.network}" for p in guest.ports]
        ports += [f"{d.alias}: {d.address}" for d in guest.devices]
        table.add_row(
            guest.name, str(guest.vcpus), f"{guest.memory_mib} MiB", nodes,
            format_list(guest.cpus.value), Text("; ".join(ports)),
        )  # fmt: skip
    return table
