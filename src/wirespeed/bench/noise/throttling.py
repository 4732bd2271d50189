# SPDX-License-Identifier: Apache-2.0
"""Count how often each CPU was throttled by heat, before and after a trial.

The kernel counts the events of a core and those of its package (Linux,
Documentation/ABI/testing/sysfs-devices-system-cpu, thermal_throttle). It has the files on x86 CPUs
with thermal monitoring; virtual machines have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Source
from wirespeed.remote.interface import Runner

_COUNTS = ("core_throttle_count", "package_throttle_count")
Counts = Mapping[tuple[int, str], int]


def throttle_counts(runner: Runner, cpus: Iterable[int]) -> Counts:
    """Return the events since boot by CPU and file; empty where the kernel counts none."""
    paths = {
        f"/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{name}": (cpu, name)
        for cpu in sorted(cpus)
        for name in _COUNTS
    }
    texts = runner.read_many(tuple(paths))
    return {paths[path]: int(text) for path, text in texts.items() if isinstance(text, str)}


def throttled(
    before: Counts, after: Counts, roles: Mapping[int, str], duration_ns: int
) -> Iterator[Disturbance]:
    """Yield one disturbance of the whole trial for each CPU that was throttled meanwhile.

    An event of the core is one of its package, too, so the larger number counts. roles: of the
    polling threads, by CPU.
    """
    for cpu, role in sorted(roles.items()):
        rises = [after[cpu, name] - before.get((cpu, name), after[cpu, name])
                 for name in _COUNTS if (cpu, name) in after]  # fmt: skip
        if (count := max(rises, default=0)) > 0:
            yield Disturbance(
                cpu, 0, duration_ns, DisturbanceKind.THROTTLED, Source.THROTTLE_COUNTS, role, count
            )
