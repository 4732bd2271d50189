# SPDX-License-Identifier: Apache-2.0
"""Recognise a container, and read the limits of its cgroup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wirespeed.bench.interface import BenchError
from wirespeed.bench.noise import cgroups
from wirespeed.model.plan.plan import HostPlan
from wirespeed.remote.interface import Runner

# Podman and Docker make one each; systemd-nspawn and LXC name themselves in process 1's variables.
MARKS = ("/run/.containerenv", "/.dockerenv", "/run/systemd/container")
# A container that is read-only has an empty /run; Podman still names itself to the first process.
FIRST_PROCESS = "/proc/1/environ"


def in_container(runner: Runner) -> bool:
    """Return whether commands run in a container."""
    if runner.glob(*MARKS):
        return True
    found = runner.read_many([FIRST_PROCESS])[FIRST_PROCESS]
    return isinstance(found, str) and any(x.startswith("container=") for x in found.split("\0"))


def check_quota(runner: Runner, plan: HostPlan) -> None:
    """Raise BenchError where a cgroup gives less CPU time than the plan's threads poll with."""
    polled = _polled(plan)
    [(_, found)] = cgroups.read(runner, [_own(runner)]).by_thread.items()
    for each in found:
        limit = each.throttle
        if limit is not None and limit.quota_us < polled * limit.period_us:
            raise BenchError(
                f"cgroup {limit.cgroup}: cpu.max allows {limit.quota_us / limit.period_us:g} CPUs; "
                f"{polled} CPUs are polled",
                f"Allow {polled} or more, e.g. `--cpus {polled}` of podman and docker.",
            )


def check_page_limit(runner: Runner, plan: HostPlan) -> None:
    """Raise BenchError where a cgroup allows fewer huge pages than the plan takes."""
    for size_kib in {pages.size_kib for pages in plan.huge_pages.value}:
        taken = sum(p.count for p in plan.huge_pages.value if p.size_kib == size_kib)
        for path, allowed in page_limits(runner, size_kib):
            if allowed < taken * size_kib << 10:
                raise BenchError(
                    f"{path}: allows {allowed >> 20} MiB of huge pages; the bench needs "
                    f"{taken * size_kib >> 10} MiB",
                    f"Raise it to {taken * size_kib << 10}.",
                )


def _polled(plan: HostPlan) -> int:
    switch = len(plan.vswitch.pmd_cpus.value) if plan.vswitch is not None else 0
    return switch + (len(plan.generator.cpus.value) if plan.generator is not None else 0)


def _own(runner: Runner) -> int:
    """Return a process on the host in the cgroup of the commands there: their parent."""
    return int(runner.run(["sh", "-c", "echo $PPID"]).stdout)


def page_limits(runner: Runner, size_kib: int) -> Iterator[tuple[str, int]]:
    """Yield the cgroup's limit files with their values in octets; absent where there is none."""
    size = f"{size_kib >> 20}GB" if size_kib >> 20 else f"{size_kib >> 10}MB"
    text = runner.read("/proc/self/cgroup")
    patterns = [f"/sys/fs/cgroup/hugetlb/hugetlb.{size}.limit_in_bytes"]
    if second := re.search(r"^0::(/.*)$", text, re.MULTILINE):
        patterns.append(f"/sys/fs/cgroup{second[1].rstrip('/')}/hugetlb.{size}.max")
    for path in runner.glob(*patterns):
        if (value := runner.read(path).strip()).isdigit():
            yield path, int(value)
