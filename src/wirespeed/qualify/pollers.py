# SPDX-License-Identifier: Apache-2.0
"""Start a wsdp that polls on each CPU without any frame: no port, no privilege, no huge page."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from wirespeed.bench.host.directories import run_directories
from wirespeed.bench.host.host import changing_host, terminated_like_interrupted
from wirespeed.bench.host.priority import polling_first
from wirespeed.bench.host.process import await_true
from wirespeed.bench.program.config import WsdpConfig, WsdpRing, WsdpTask
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.model.plan.plan import ProcessMemory
from wirespeed.remote.interface import Runner
from wirespeed.remote.state import state_directory

# wsdp's switch records and its answers have room for as many CPUs.
MOST_CPUS = 64
_MEMORY = ProcessMemory(mbufs=1023, data_bytes=2176, memory_mib=256, huge_pages=False)
_RING = 64
_READY_S = 30.0


def configuration(cpus: Sequence[int], allowed: Collection[int], tag: str) -> WsdpConfig:
    """Return a process with an idle generator and an idle sink on each CPU.

    allowed: CPUs that it may use; its sleeping main lcore takes one that is not polled, if any.
    """
    rest = sorted(set(allowed) - set(cpus))
    lcores = range(1, len(cpus) + 1)
    return WsdpConfig(
        f"qualify{tag}",
        (rest or sorted(cpus))[0],
        tuple(cpus),
        _MEMORY,
        (),
        tuple(
            task
            for n in lcores
            for task in (
                WsdpTask(f"gen{n}", "gen", n, tx=(f"ring:r{n}",)),
                WsdpTask(f"sink{n}", "sink", n, rx=(f"ring:r{n}",)),
            )
        ),
        tuple(WsdpRing(f"r{n}", _RING) for n in lcores),
    )


def polling(
    runner: Runner, cpus: Sequence[int], allowed: Collection[int]
) -> AbstractContextManager[tuple[Wsdp, str]]:
    """Poll on these CPUs; yield the program, and the priority of its threads in words.

    Raises BenchError.
    """
    return started(runner, lambda tag: configuration(cpus, allowed, tag))


@contextmanager
def started(runner: Runner, configure: Callable[[str], WsdpConfig]) -> Iterator[tuple[Wsdp, str]]:
    """Start a wsdp at the priority of `wirespeed run`; yield it, and that priority in words.

    configure: makes its configuration from the tag of the run. Raises BenchError.
    """
    with (
        terminated_like_interrupted(),
        TemporaryDirectory(prefix="wirespeed-qualify-") as logs,
        changing_host(runner, state_directory(os.environ)) as host,
        run_directories(host, Path(logs)) as dirs,
        polling_first(host) as priority,
    ):
        program = Wsdp("qualify", host, dirs, configure(dirs.tag))
        try:
            program.start()
            await_true(
                lambda: program.waits_for() is None,
                within_s=_READY_S,
                alive=program.ended,
                otherwise=lambda: f"wsdp is not ready: it waits for {program.waits_for()}",
            )
            yield program, priority
        finally:
            program.stop()
