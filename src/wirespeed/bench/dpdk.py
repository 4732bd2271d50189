# SPDX-License-Identifier: Apache-2.0
"""What do all programs that use DPDK need on their command line, and where is their socket?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

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


def huge_page_options(memory_mib: Iterable[int]) -> tuple[str, ...]:
    """Memory of each NUMA node, taken at start and bounded.

    --in-memory: pages are anonymous and go with the process, however it ends; no hugetlbfs has to
    be mounted. --single-file-segments: few enough regions for a vhost-user memory table.
    """
    sizes = ",".join(str(mib) for mib in memory_mib)
    return (
        "--in-memory",
        "--single-file-segments",
        f"--socket-mem={sizes}",
        f"--socket-limit={sizes}",
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
