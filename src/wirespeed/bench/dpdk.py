# SPDX-License-Identifier: Apache-2.0
"""What do all programs that use DPDK need on their command line, and where is their socket?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from wirespeed.model.plan import ProcessMemory
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class Directories:
    """Where a run keeps things. run: sockets and other things that end with it; its path is short,
    for a unix socket's may have 107 octets. log: what remains. tag: 8 letters, this run's own."""

    run: PurePosixPath
    log: PurePosixPath
    tag: str


def environment(run_dir: PurePosixPath) -> Mapping[str, str]:
    """Makes DPDK keep its run-time files below run_dir (EAL: eal_create_runtime_dir)."""
    return {"RUNTIME_DIRECTORY": str(run_dir)}


def telemetry_socket(run_dir: PurePosixPath, file_prefix: str) -> str:
    return str(run_dir / "dpdk" / file_prefix / "dpdk_telemetry.v2")


def memory_options(memory: ProcessMemory) -> tuple[str, ...]:
    """The EAL options that give a process its memory at start, and no more later.

    --in-memory: pages are anonymous and go with the process, however it ends; no hugetlbfs has to
    be mounted. --single-file-segments: few enough regions for a vhost-user memory table.
    """
    if not memory.huge_pages:
        return ("--no-huge", "-m", str(memory.memory_mib))
    per_node = ",".join(
        str(memory.memory_mib if node in memory.nodes else 0)
        for node in range(max(memory.nodes) + 1)
    )
    return (
        "--in-memory",
        "--single-file-segments",
        f"--socket-mem={per_node}",
        f"--socket-limit={per_node}",
    )


def last_words(runner: Runner, log: str) -> str:
    """What a program's log says about its end: its last errors, or else its last lines."""
    try:
        lines = [line.strip() for line in runner.read(log).splitlines() if line.strip()]
    except FileNotFoundError:
        return "it left no log"
    words = ("ERR|", "EMER|", "error", "Cause:", "cannot", "Cannot", "failed", "FATAL")
    errors = [line for line in lines if any(w in line for w in words)]
    said = " / ".join((errors or lines)[-3:]) or "it said nothing"
    return f"{said} ({log})"
