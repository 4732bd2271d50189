# SPDX-License-Identifier: Apache-2.0
"""Complete the CPUs of an archive that lacks some of their files.

sos 4.12 collects at most 64 folders of CPUs, and gather-sysinfo has neither `present` nor
`online`. /proc/cpuinfo of x86 has every online CPU with its package and core.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from wirespeed.host.cpu import SYS_CPU
from wirespeed.model.cpuset import MAX_CPU, format_list, parse_list
from wirespeed.model.errors import BadInput
from wirespeed.remote.archived import ArchivedRunner

_FOLDER = re.compile("cpu([0-9]{1,5})")
_KEY = re.compile(r"(processor|physical id|core id)\s*: ([0-9]{1,9})")
_NEXT = "Ask for it again, made with `sos report -k processor.max_cpu_dirs=4096`."


def complete_cpus(runner: ArchivedRunner) -> Mapping[str, str]:
    """Add what /proc/cpuinfo has. Returns the facts that stay unknown, with reasons.

    Raises BadInput where the place of a CPU is unknown.
    """
    tree = runner.tree
    known = {
        int(found[1])
        for name in tree.names(SYS_CPU)
        if (found := _FOLDER.fullmatch(name)) and tree.has(f"{SYS_CPU}/{name}/topology/core_id")
    }
    places = _places(tree.find("/proc/cpuinfo"))
    online = _listed(runner, "online") or known | set(places)
    if not _listed(runner, "present"):
        offline = _listed(runner, "offline")
        tree.add(f"{SYS_CPU}/present", format_list(online | offline) + "\n")
        tree.add(f"{SYS_CPU}/online", format_list(online - offline) + "\n")
        online -= offline
    lacking = online - known
    if unplaced := lacking - set(places):
        raise BadInput(f"{runner.what} has no topology of CPUs {format_list(unplaced)}", _NEXT)
    siblings = defaultdict(set)
    for cpu, place in places.items():
        siblings[place].add(cpu)
    for cpu in lacking:
        package, core = places[cpu]
        folder = f"{SYS_CPU}/cpu{cpu}/topology"
        tree.add(f"{folder}/physical_package_id", f"{package}\n")
        tree.add(f"{folder}/core_id", f"{core}\n")
        tree.add(f"{folder}/thread_siblings_list", format_list(siblings[places[cpu]]) + "\n")
    return _unknown(runner, lacking, online)


def _unknown(runner: ArchivedRunner, lacking: set[int], online: set[int]) -> Mapping[str, str]:
    if lacking:
        reason = f"{runner.what} has no folder of CPUs {format_list(lacking)}"
        return dict.fromkeys(("governors", "idle_states", "caches"), reason)
    folders = [f"{SYS_CPU}/cpu{cpu}/cpufreq" for cpu in online]
    if not any(runner.tree.has(each) or runner.is_known(each) for each in folders):
        return {"governors": f"{runner.what} has no folder cpufreq of any CPU"}
    return {}


def _listed(runner: ArchivedRunner, name: str) -> set[int]:
    text = runner.tree.find(f"{SYS_CPU}/{name}")
    try:
        return set(parse_list(text)) if isinstance(text, str) else set()
    except ValueError:
        return set()  # the reader of the host reports it


def _places(text: object) -> dict[int, tuple[int, int]]:
    """Return package and core of each CPU in /proc/cpuinfo."""
    found: dict[int, tuple[int, int]] = {}
    for block in text.split("\n\n") if isinstance(text, str) else ():
        keys = {key: int(value) for key, value in _KEY.findall(block)}
        cpu = keys.get("processor", MAX_CPU + 1)
        if cpu <= MAX_CPU and "physical id" in keys and "core id" in keys:
            found[cpu] = keys["physical id"], keys["core id"]
    return found
