# SPDX-License-Identifier: Apache-2.0
"""Make a cgroup that confines programs to CPUs and to memory of NUMA nodes.

Supports cgroup v1 and v2 (Documentation/admin-guide/cgroup-v1/cpusets.rst and cgroup-v2.rst).
"""

from __future__ import annotations

import re
from collections.abc import Collection

from wirespeed.bench.host.cgroup_changes import CONTROLLER, CgroupMade, ControllerEnabled
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.journal_file import one_at_a_time
from wirespeed.bench.interface import BenchError
from wirespeed.model.cpuset import format_list
from wirespeed.remote.interface import RemoteError, Runner

_MOUNT = re.compile(r"^\S+ (?P<at>/\S+) (?P<kind>cgroup2?) (?P<options>\S+)", re.MULTILINE)


def make_cgroup(host: Host, name: str, cpus: Collection[int], nodes: Collection[int]) -> str:
    """Make a cgroup and return its directory; it is removed at the end.

    nodes: NUMA nodes of its memory; empty for all. Raises BenchError where the host has no cpusets.
    """
    runner = host.runner
    root, is_second = _hierarchy(runner)
    path = f"{root}/{name}"
    try:
        if is_second:
            _enable(host, f"{root}/cgroup.subtree_control")
        host.note(CgroupMade(path))
        runner.run(["mkdir", "--", path])
        # A first version's cgroup takes no process before it has both.
        memory = format_list(nodes) or ("" if is_second else runner.read(f"{root}/cpuset.mems"))
        if memory:
            runner.write(f"{path}/cpuset.mems", memory)
        runner.write(f"{path}/cpuset.cpus", format_list(cpus))
    except (OSError, RemoteError) as error:
        raise BenchError(
            f"{host.name}: cgroup {path} cannot be made: {error}",
            'Run as root outside a container, or write sut.vnf.placement = "process".',
        ) from error
    return path


def _enable(host: Host, path: str) -> None:
    change = ControllerEnabled(path)
    with one_at_a_time(host.state_dir):
        absent = CONTROLLER not in host.runner.read(path).split()
        # The last of the runs that need it takes it away.
        if absent or change in host.others():
            host.note(change)
        if absent:
            host.runner.write(path, f"+{CONTROLLER}")


def _hierarchy(runner: Runner) -> tuple[str, bool]:
    """Return the root of the hierarchy with cpusets, and whether it is of the second version."""
    mounts = list(_MOUNT.finditer(runner.read("/proc/self/mounts")))
    for found in mounts:
        if found["kind"] == "cgroup" and CONTROLLER in found["options"].split(","):
            return found["at"], False
    for found in mounts:
        if found["kind"] == "cgroup2":
            offered = runner.read(f"{found['at']}/cgroup.controllers").split()
            if CONTROLLER in offered:
                return found["at"], True
    raise BenchError(
        f"{runner.name}: no mounted cgroup hierarchy has the controller {CONTROLLER}",
        'Mount cgroup2 at /sys/fs/cgroup, or write sut.vnf.placement = "process".',
    )
