# SPDX-License-Identifier: Apache-2.0
"""Read the CPUs: node, package, core, SMT siblings, caches, governor and idle states.

Source: Documentation/admin-guide/cputopology.rst and ABI/testing/sysfs-devices-system-cpu.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from wirespeed.host.reader import Files, Reader
from wirespeed.model.host.facts import Cache, Cpu, IdleState

SYS_CPU = "/sys/devices/system/cpu"
SYS_NODE = "/sys/devices/system/node"

PER_CPU = (
    "topology/core_id",
    "topology/physical_package_id",
    "topology/thread_siblings_list",
    "cpufreq/scaling_governor",
)
PER_IDLE_STATE = ("name", "latency", "disable")
PER_CACHE = ("level", "type", "size", "shared_cpu_list")


@dataclass(frozen=True, slots=True)
class CpuFacts:
    cpus: tuple[Cpu, ...]
    caches: tuple[Cache, ...]
    model: str
    flags: tuple[str, ...]


def read_cpus(reader: Reader) -> CpuFacts:
    """Return every present CPU, the caches, and model name and feature flags of /proc/cpuinfo."""
    sets = reader.files([f"{SYS_CPU}/{name}" for name in ("present", "online")], "cpus")
    present = reader.cpus(sets, f"{SYS_CPU}/present")
    online = reader.cpus(sets, f"{SYS_CPU}/online") or present
    if not present:
        reader.fault(f"{SYS_CPU}/present", "names no CPU")
    allowed = _allowed(reader) or present
    nodes = _nodes(reader)
    files = reader.many([f"{SYS_CPU}/cpu[0-9]*/{name}" for name in PER_CPU], "cpus")
    idle = reader.many(
        [f"{SYS_CPU}/cpu[0-9]*/cpuidle/state[0-9]*/{name}" for name in PER_IDLE_STATE],
        "idle_states",
    )
    states = _idle_states(reader, idle)
    cpus = tuple(
        _online_cpu(
            reader,
            files,
            cpu,
            node=nodes.get(cpu, 0),
            allowed=cpu in allowed,
            idle_states=states.get(cpu, ()),
        )
        if cpu in online
        else Cpu(cpu, None, None, None, (cpu,), False, cpu in allowed)
        for cpu in present
    )
    first_threads = [c.id for c in cpus if c.online and c.id == min(c.siblings)]
    model, flags = _model_and_flags(reader)
    return CpuFacts(cpus, _caches(reader, first_threads), model, flags)


def _online_cpu(
    reader: Reader,
    files: Files,
    cpu: int,
    *,
    node: int,
    allowed: bool,
    idle_states: tuple[IdleState, ...],
) -> Cpu:
    base = f"{SYS_CPU}/cpu{cpu}"
    return Cpu(
        id=cpu,
        node=node,
        package=reader.number(files, f"{base}/topology/physical_package_id", 0),
        core=reader.number(files, f"{base}/topology/core_id", cpu),
        siblings=reader.cpus(files, f"{base}/topology/thread_siblings_list") or (cpu,),
        allowed=allowed,
        governor=files.get(f"{base}/cpufreq/scaling_governor"),
        idle_states=idle_states,
    )


def _allowed(reader: Reader) -> tuple[int, ...]:
    status = reader.text("/proc/self/status", "allowed") or ""
    found = re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.MULTILINE)
    path = "/proc/self/status Cpus_allowed_list"
    if status and not found:
        reader.lacks("allowed", "/proc/self/status has no line Cpus_allowed_list")
    return reader.cpus({path: found[1]}, path) if found else ()


def _nodes(reader: Reader) -> dict[int, int]:
    lists = reader.many([f"{SYS_NODE}/node[0-9]*/cpulist"], "nodes")
    return {
        cpu: int(path.split("/")[-2].removeprefix("node"))
        for path in lists
        for cpu in reader.cpus(lists, path)
    }


def _idle_states(reader: Reader, files: Files) -> dict[int, tuple[IdleState, ...]]:
    folders: dict[int, list[tuple[int, str]]] = {}
    for path in files:
        if path.endswith("/name"):
            folder = path.removesuffix("/name")
            cpu, state = re.findall(r"/cpu(\d+)/cpuidle/state(\d+)$", folder)[0]
            folders.setdefault(int(cpu), []).append((int(state), folder))
    return {
        cpu: tuple(
            IdleState(
                name=files[f"{folder}/name"],
                exit_latency_us=reader.number(files, f"{folder}/latency", 0),
                disabled=reader.number(files, f"{folder}/disable", 0) != 0,
            )
            for _, folder in sorted(found)
        )
        for cpu, found in folders.items()
    }


def _caches(reader: Reader, cpus: list[int]) -> tuple[Cache, ...]:
    """Return the caches of the first thread of each core; a shared cache appears once."""
    patterns = [f"{SYS_CPU}/cpu[0-9]*/cache/index[0-9]*/{name}" for name in PER_CACHE]
    first = {f"cpu{cpu}" for cpu in cpus}
    paths = [path for path in reader.names(*patterns, fact="caches") if path.split("/")[5] in first]
    files = reader.files(paths, "caches")
    found = set()
    for folder in {path.rsplit("/", 1)[0] for path in files}:
        sizes = {folder: files.get(f"{folder}/size", "0K").removesuffix("K")}
        found.add(
            (
                reader.number(files, f"{folder}/level", 0),
                reader.cpus(files, f"{folder}/shared_cpu_list"),
                files.get(f"{folder}/type", ""),
                reader.number(sizes, folder, 0),
            )
        )
    return tuple(Cache(level, kind, size, shared) for level, shared, kind, size in sorted(found))


def _model_and_flags(reader: Reader) -> tuple[str, tuple[str, ...]]:
    text = reader.text("/proc/cpuinfo", "cpu_flags") or ""
    model = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    if text and not model:
        reader.lacks("cpu_model", "/proc/cpuinfo has no line of a model name")
    # x86 names them "flags", arm64 "Features".
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.MULTILINE)
    return model[1].strip() if model else "", tuple(sorted(flags[1].split())) if flags else ()
