# SPDX-License-Identifier: Apache-2.0
"""Print a host on a terminal: sockets, cores and their owners, memory, NICs."""

from __future__ import annotations

from collections.abc import Iterable

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table

from wirespeed.audit.owners import Owner, owners
from wirespeed.cli.console import Text
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.facts import HostFacts, NumaNode, PciDevice
from wirespeed.model.words import counted

# A letter for terminals without colour, and a style.
MARKS = {
    Owner.OFFLINE: ("-", "dim"),
    Owner.PMD: ("P", "bold magenta"),
    Owner.GUEST: ("G", "bold green"),
    Owner.GUEST_SET: ("g", "green"),
    Owner.VSWITCHD: ("V", "cyan"),
    Owner.ISOLATED: ("i", "yellow"),
    Owner.HOST: ("h", ""),
}
GIB_IN_KIB = 1024 * 1024


def print_host(facts: HostFacts, console: Console) -> None:
    """Print the whole picture, one panel for each NUMA node."""
    console.print(_headline(facts))
    owned = owners(facts)
    for node in facts.nodes:
        console.print(_node_panel(facts, node, owned))
    elsewhere = [nic for nic in _physical(facts) if nic.node is None]
    if elsewhere and len(facts.nodes) > 1:
        console.print(Panel(_nics(facts, elsewhere), title="NICs without a NUMA node"))
    console.print(_owner_table(facts, owned))
    if facts.missing:
        console.print(Text("Not known:", style="bold"))
        for missing in facts.missing:
            console.print(Text(f"  {missing.fact}: {missing.reason}"))


def _headline(facts: HostFacts) -> RenderableType:
    if not facts.cpus:
        guests = counted(len(facts.guests or ()), "guest")
        return Text.assemble(
            (facts.host, "bold"), f"  {facts.cpu_model or 'unknown CPU'}; {guests}"
        )
    sockets = {cpu.package for cpu in facts.cpus if cpu.online}
    cores = {cpu.siblings for cpu in facts.cpus if cpu.online}
    smt = "SMT on" if facts.smt else "SMT off"
    text = Text.assemble((facts.host, "bold"), f"  {facts.cpu_model or 'unknown CPU'}\n")
    text.append(
        f"{counted(len(sockets), 'socket')}, {counted(len(cores), 'core')}, "
        f"{counted(len(facts.online_cpus), 'CPU')}, {smt}; Linux {facts.kernel.release}"
    )
    if facts.operating_system:
        text.append(f"; {facts.operating_system}")
    if facts.ovs:
        dpdk = facts.ovs.dpdk_version or "DPDK" if facts.ovs.dpdk_initialized else "no DPDK"
        text.append(f"; Open vSwitch {facts.ovs.version} ({dpdk})".replace("  ", " "))
    for switch in facts.switches:
        on = f" on CPUs {format_list(switch.polling_cpus)}" if switch.polling_cpus else ""
        text.append(f"; {' '.join(filter(None, (switch.kind, switch.version)))}{on}")
    if facts.guests:
        text.append(f"; {counted(len(facts.guests), 'guest')}")
    return text


def _node_panel(facts: HostFacts, node: NumaNode, owned: dict[int, Owner]) -> Panel:
    package = next((str(c.package) for c in facts.cpus if c.node == node.id), "?")
    title = f"NUMA node {node.id}, socket {package}"
    cores = sorted({cpu.siblings for cpu in facts.cpus if cpu.id in node.cpus})
    width = len(str(max(cpu.id for cpu in facts.cpus)))
    cells = [_core(core, owned, width) for core in cores]
    only = len(facts.nodes) == 1
    nics = [nic for nic in _physical(facts) if nic.node == node.id or (only and nic.node is None)]
    memory = _memory(node, free_known=facts.why_missing("free_memory") is None)
    parts: list[RenderableType] = [Columns(cells, padding=(0, 2)), memory]
    if nics:
        parts.append(_nics(facts, nics))
    return Panel(Group(*parts), title=title, title_align="left")


def _core(core: Iterable[int], owned: dict[int, Owner], width: int) -> Text:
    """Format one physical core: its threads, each with its owner's letter."""
    text = Text()
    for cpu in core:
        letter, style = MARKS[owned[cpu]]
        text.append(f"{cpu:>{width}}{letter} ", style=style)
    return text


def _memory(node: NumaNode, *, free_known: bool) -> Text:
    pools = [
        f"{counted(pool.total, 'page')} of {_size(pool.size_kib)}"
        + (f", {pool.free} free" if free_known else "")
        for pool in node.huge_pages
        if pool.total
    ]
    memory = f"{_size(node.memory_kib)} memory"
    if free_known:
        memory += f", {_size(node.free_kib)} free"
    if node.offline_kib:
        memory += f", {_size(node.offline_kib)} offline of {_size(node.installed_kib or 0)}"
    return Text(f"{memory}; huge pages: {'; '.join(pools) or 'none'}")


def _size(kib: int) -> str:
    if kib >= GIB_IN_KIB:
        return f"{kib / GIB_IN_KIB:.4g} GiB"
    return f"{kib / 1024:.4g} MiB" if kib >= 1024 else f"{kib} KiB"


def _physical(facts: HostFacts) -> list[PciDevice]:
    return [nic for nic in facts.nics if nic.physical_function is None]


def _nics(facts: HostFacts, nics: list[PciDevice]) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("NIC", "interface", "driver", "Mbit/s", "PCIe", "VFs", "used by"):
        table.add_column(column, overflow="fold")
    speeds = {i.name: i for i in facts.interfaces}
    ports = {i.pci: i for i in (facts.ovs.interfaces if facts.ovs else ()) if i.pci}
    absent = "none" if facts.why_missing("pci") is None else "?"
    for nic in nics:
        found = [speeds[name] for name in nic.interfaces if name in speeds]
        port = ports.get(nic.address)
        users = [f"{port.bridge}/{port.name}"] if port else []
        users += [i.master for i in found if i.master]
        users += ["default route" for i in found if i.name == facts.default_route_interface]
        table.add_row(
            nic.address,
            ", ".join(nic.interfaces),
            nic.driver or absent,
            ", ".join(str(i.speed_mbps) for i in found if i.speed_mbps),
            f"x{nic.link_width} {nic.link_gts:g} GT/s" if nic.link_width and nic.link_gts else "",
            f"{nic.sriov_num} of {nic.sriov_total}" if nic.sriov_total else "",
            ", ".join(users),
        )
    return table


def _owner_table(facts: HostFacts, owned: dict[int, Owner]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for owner, (letter, style) in MARKS.items():
        cpus = [cpu for cpu, who in owned.items() if who is owner]
        if cpus:
            table.add_row(Text(letter, style=style), str(owner), _spaced(cpus))
    for guest in facts.guests or ():
        pins = _spaced(cpu for pin in guest.pins for cpu in pin.cpus)
        table.add_row("", f"  {guest.name}", pins or "floating")
    return table


def _spaced(cpus: Iterable[int]) -> str:
    """Format a list that a narrow terminal wraps between two numbers, never within one."""
    return format_list(cpus).replace(",", ", ")
