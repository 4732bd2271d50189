# SPDX-License-Identifier: Apache-2.0
"""List the factors of a host that can be changed without a reboot, and set them for a trial.

Each is a set of files below /proc or /sys. The bench's journal records every value before it is
written, so a killed search is undone like any other leftover.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from wirespeed.bench.host.host import changing_host
from wirespeed.bench.interface import BenchError
from wirespeed.model.cpuset import format_list
from wirespeed.model.errors import WirespeedError
from wirespeed.remote.interface import Runner
from wirespeed.remote.state import state_directory
from wirespeed.sources.kernel_value import same_value, selected
from wirespeed.tune.factor import Factor, Needs, NotTried

GOVERNORS = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
IRQS = "/proc/irq/*/smp_affinity_list"
_WORKQUEUES = "/sys/devices/virtual/workqueue/cpumask"


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    pattern: str
    level: str


_CANDIDATES = (
    _Candidate("CPU governor", GOVERNORS, "performance"),
    _Candidate("transparent huge pages", "/sys/kernel/mm/transparent_hugepage/enabled", "never"),
    _Candidate("KSM", "/sys/kernel/mm/ksm/run", "0"),
    _Candidate("vm.stat_interval", "/proc/sys/vm/stat_interval", "120"),
    _Candidate("NMI watchdog", "/proc/sys/kernel/nmi_watchdog", "0"),
    _Candidate("NUMA balancing", "/proc/sys/kernel/numa_balancing", "0"),
)


def host_factors(
    runner: Runner, quiet_cpus: Sequence[int]
) -> tuple[Sequence[Factor], Sequence[NotTried]]:
    """Return the host's factors, and those that it lacks or that are set already.

    quiet_cpus: CPUs on which nothing polls; interrupts and workqueues can move there.
    """
    tried: list[Factor] = []
    excluded: list[NotTried] = []
    for each in _all(quiet_cpus):
        if isinstance(each, NotTried):
            excluded.append(each)
            continue
        found = {path: _read(runner, path) for path in runner.glob(each.pattern)}
        readable = {path: value for path, value in found.items() if value is not None}
        other = {
            path: each.level for path, value in readable.items()
            if not same_value(path, value, each.level)
        }  # fmt: skip
        if not readable:
            excluded.append(NotTried(each.name, "this host has no such setting"))
        elif not other:
            excluded.append(NotTried(each.name, f"it is {each.level} already"))
        else:
            tried.append(Factor(each.name, needs=Needs.HOST, host=other))
    return tried, excluded


def _all(quiet_cpus: Sequence[int]) -> Iterator[_Candidate | NotTried]:
    yield from _CANDIDATES
    if not quiet_cpus:
        for name in ("workqueue CPUs", "IRQ affinity"):
            yield NotTried(name, "a thread polls on every CPU: there is none to move to")
        return
    mask = f"{sum(1 << cpu for cpu in quiet_cpus):x}"
    yield _Candidate("workqueue CPUs", _WORKQUEUES, mask)
    yield _Candidate("IRQ affinity", IRQS, format_list(quiet_cpus))


def _read(runner: Runner, path: str) -> str | None:
    try:
        return selected(runner.read(path))
    except (OSError, WirespeedError):
        return None


@contextmanager
def host_set(runner: Runner, files: Mapping[str, str]) -> Iterator[None]:
    """Set the files for the body, then put them back.

    Some interrupts cannot be moved, so single files may refuse. Raises BenchError where all do.
    """
    if not files:
        yield
        return
    with changing_host(runner, state_directory(os.environ)) as host:
        refused = [host.set_sysctl_file(path, value) for path, value in files.items()]
        if all(refused):
            raise BenchError(str(refused[0]), "Exclude the factor with --never.")
        yield
