# SPDX-License-Identifier: Apache-2.0
"""Read a host from a file that a support engineer has: its kind is found by its content."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from wirespeed.host.collect import collect
from wirespeed.host.imported import sosreport
from wirespeed.host.imported.cpus import complete_cpus
from wirespeed.host.imported.interrupts import write_actions
from wirespeed.host.imported.keeper import Keeper
from wirespeed.host.imported.lstopo import read_lstopo
from wirespeed.host.imported.machine_configs import NoSettings
from wirespeed.host.imported.must_gather import Nodes
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts, Missing
from wirespeed.model.plan.kubelet import KubeletSettings
from wirespeed.remote.archive import NEXT, Budget, members
from wirespeed.remote.archived import ArchivedRunner

# In octets. lstopo writes 1 MiB for 1,000 CPUs.
_XML = 16 << 20


@dataclass(frozen=True, slots=True)
class Opened:
    """A host in a file."""

    runner: ArchivedRunner
    lacking: Mapping[str, str]
    """Facts that the file cannot have, with reasons."""
    kubelet: KubeletSettings | None = None
    """Of a must-gather alone; without them `lacking` has the reason."""


def read_imported(path: Path, node: str | None = None) -> HostFacts:
    """Return the facts of the host in a sosreport, a must-gather or an XML of lstopo.

    node: of a must-gather with several. Raises BadInput for another or an unsafe file.
    """
    return facts_of(open_imported(path, node))


def facts_of(opened: Opened) -> HostFacts:
    """Return the facts of a host in a file. Raises HostUnreadable."""
    facts, lacking = collect(opened.runner), opened.lacking
    read = (each for each in facts.missing if each.fact not in lacking)
    added = (Missing(fact, why) for fact, why in lacking.items())
    return replace(facts, missing=tuple(sorted((*read, *added), key=lambda each: each.fact)))


def open_imported(path: Path, node: str | None = None) -> Opened:
    """Return the host in a file. Raises BadInput as `read_imported` does."""
    try:
        with path.open("rb") as file:
            start = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
            file.seek(0)
            if not start.startswith(b"<"):
                return _open_archive(file, path, node)
            content = file.read(_XML + 1)
    except OSError as fault:
        raise BadInput(f"{path}: {fault.strerror or fault}", "Check the path.") from fault
    if node is not None:
        raise _no_nodes(path)
    if len(content) > _XML:
        raise BadInput(f"{path}: is XML of more than {_XML >> 20} MiB", NEXT)
    return Opened(*read_lstopo(content, str(path), _host_of(path)))


def _open_archive(file: IO[bytes], path: Path, node: str | None) -> Opened:
    budget = Budget()
    nodes, keeper = Nodes(str(path), node), Keeper(str(path), sosreport.is_wanted)
    for member in members(file, str(path), budget):
        if not nodes.take(member):
            keeper.take(member)
    if nodes:
        runner = nodes.open(budget)
    elif node is not None:
        raise _no_nodes(path)
    else:
        tree = keeper.tree
        name = tree.find("/etc/hostname")
        host = name.strip() if isinstance(name, str) else ""
        what = "the snapshot" if keeper.is_bare else "the sosreport"
        runner = ArchivedRunner(tree, host or _host_of(path), what)
        sosreport.complete(runner)
    if not runner.tree.names("/proc") and not runner.tree.names("/sys"):
        raise BadInput(f"{path}: no file of /proc or /sys below one folder", NEXT)
    write_actions(runner.tree)
    lacking = complete_cpus(runner)
    if not nodes:
        return Opened(runner, lacking)
    try:
        return Opened(runner, lacking, nodes.machine_configs.kubelet_of(runner.name))
    except NoSettings as why:
        return Opened(runner, {**lacking, "kubelet": str(why)})


def _host_of(path: Path) -> str:
    """Return a host name for a file that has none: the file's, with what a host may be called."""
    return re.sub(r"[^A-Za-z0-9]+", "-", path.name.partition(".")[0]).strip("-") or "imported"


def _no_nodes(path: Path) -> BadInput:
    return BadInput(f"{path}: --node names a node of a must-gather, which it is not",
                    "Leave out --node.")  # fmt: skip
