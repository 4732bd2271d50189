# SPDX-License-Identifier: Apache-2.0
"""Ask a wsdp router that follows the kernel to compare its tables with the kernel's."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import Runner
from wirespeed.remote.local import LocalRunner
from wirespeed.sources.errors import NoAnswer
from wirespeed.sources.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class RouteDifference:
    """A prefix or address with two answers: the kernel's, and that of the tables in force."""

    prefix: str
    kernel: str
    fib: str
    vrf: str = ""
    """Name of the VRF whose table has it; "": the table main."""


@dataclass(frozen=True, slots=True)
class TableComparison:
    """One comparison. wsdp writes at most 10,000 differences and counts all."""

    prefixes: int
    samples: int
    """Random addresses for which the kernel was asked."""
    count: int
    differences: frozenset[RouteDifference]
    neighbours_over_hops: int = 0
    """Neighbours without a route of their own since all next hops of the tables are in use."""
    routes_over_hops: int = 0
    """Routes left to the kernel for the same reason."""
    in_place: bool = False
    """There is no memory for a second copy of the tables: those in force are changed."""
    routes_without_room: int = 0
    """Routes for which the tables in force have no room."""


def router_tasks(telemetry: Telemetry) -> list[str]:
    """Return the names of wsdp's tasks of type router. Raises NoAnswer."""
    tasks = telemetry.ask("/wirespeed/info").get("tasks", {})
    if not isinstance(tasks, Mapping):
        raise NoAnswer("/wirespeed/info names no tasks")
    return [
        str(name)
        for name, about in tasks.items()
        if isinstance(about, Mapping) and about.get("type") == "router"
    ]


def compare_tables(telemetry: Telemetry, task: str) -> TableComparison:
    """Return the differences between the kernel's routes and the tables. Raises NoAnswer."""
    with tempfile.TemporaryDirectory(prefix="wirespeed-") as folder:
        return compare_tables_on(LocalRunner(), telemetry, task, str(Path(folder) / "differences"))


def compare_tables_on(
    runner: Runner, telemetry: Telemetry, task: str, path: str
) -> TableComparison:
    """Return the same from wsdp's host, where it writes the file `path`. Raises NoAnswer."""
    counts = telemetry.ask(f"/wirespeed/check,{task},{path}")
    try:
        lines = runner.read(path).splitlines()
        differences = frozenset(_difference(load_json(line)) for line in lines)
        names = ("missing", "different", "extra", "wrong_lookups", "wrong_samples")
        return TableComparison(
            int(counts["prefixes"]),
            int(counts["samples"]),
            sum(int(counts[name]) for name in names),
            differences,
            int(counts["neighbours_over_hops"]),
            int(counts["routes_over_hops"]),
            bool(counts["in_place"]),
            int(counts["routes_without_room"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise NoAnswer(f"the differences of task {task} cannot be read: {fault}") from fault


def _difference(line: Any) -> RouteDifference:
    return RouteDifference(
        str(line["prefix"]), str(line["kernel"]), str(line["fib"]), str(line.get("vrf", ""))
    )
