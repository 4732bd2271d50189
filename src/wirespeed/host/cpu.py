# SPDX-License-Identifier: Apache-2.0
"""Which CPUs does the host have: node, package, core, SMT siblings, caches, governor, idle states?

Source: Documentation/admin-guide/cputopology.rst and ABI/testing/sysfs-devices-system-cpu.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from wirespeed.host.reader import Reader
from wirespeed.model.cpuset import parse_list
from wirespeed.model.facts import Cache, Cpu, IdleState

SYS_CPU = "/sys/devices/system/cpu"


@dataclass(frozen=True, slots=True)
class CpuFacts:
    cpus: tuple[Cpu, ...]
    caches: tuple[Cache, ...]
    model: str
    flags: tuple[str, ...]


def read_cpus(reader: Reader) -> CpuFacts:
    """Every present CPU, the caches, the model name and the feature flags of /proc/cpuinfo."""
    present = parse_list(reader.text(f"{SYS_CPU}/present", "cpus") or "")
    online = parse_list(reader.text(f"{SYS_CPU}/online", "cpus") or "") or present
    allowed = _allowed(reader) or present
    attributes = _by_cpu(
        reader.many(
            [
                f"{SYS_CPU}/cpu[0-9]*/topology/{name}"
                for name in ("core_id", "physical_package_id", "thread_siblings_list")
            ],
            "cpus",
        )
    )
    governors = _by_cpu(reader.many([f"{SYS_CPU}/cpu[0-9]*/cpufreq/scaling_governor"], "governors"))
    idle = _idle_states(reader)
    nodes = _nodes(reader)
    cpus = []
    for cpu_id in present:
        if cpu_id not in online:
            cpus.append(Cpu(cpu_id, None, None, None, (cpu_id,), False, cpu_id in allowed))
            continue
        topology = attributes.get(cpu_id, {})
        cpus.append(
            Cpu(
                id=cpu_id,
                node=nodes.get(cpu_id, 0),
                package=int(topology.get("topology/physical_package_id", "0")),
                core=int(topology.get("topology/core_id", str(cpu_id))),
                siblings=parse_list(topology.get("topology/thread_siblings_list", str(cpu_id))),
                allowed=cpu_id in allowed,
                governor=governors.get(cpu_id, {}).get("cpufreq/scaling_governor"),
                idle_states=idle.get(cpu_id, ()),
            )
        )
    first_threads = [c.id for c in cpus if c.online and c.id == min(c.siblings)]
    model, flags = _model_and_flags(reader)
    return CpuFacts(tuple(cpus), _caches(reader, first_threads), model, flags)


def _by_cpu(files: dict[str, str]) -> dict[int, dict[str, str]]:
    """Group paths by CPU number; the key inside is the path after ".../cpuN/"."""
    grouped: dict[int, dict[str, str]] = defaultdict(dict)
    for path, text in files.items():
        number, _, rest = path.removeprefix(f"{SYS_CPU}/cpu").partition("/")
        grouped[int(number)][rest] = text
    return grouped


def _allowed(reader: Reader) -> tuple[int, ...]:
    status = reader.text("/proc/self/status", "allowed") or ""
    found = re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.MULTILINE)
    return parse_list(found[1]) if found else ()


def _nodes(reader: Reader) -> dict[int, int]:
    lists = reader.many(["/sys/devices/system/node/node[0-9]*/cpulist"], "nodes")
    return {
        cpu: int(re.findall(r"/node(\d+)/", path)[0])
        for path, text in lists.items()
        for cpu in parse_list(text)
    }


def _idle_states(reader: Reader) -> dict[int, tuple[IdleState, ...]]:
    names = ("name", "latency", "disable")
    files = _by_cpu(
        reader.many(
            [f"{SYS_CPU}/cpu[0-9]*/cpuidle/state[0-9]*/{name}" for name in names], "idle_states"
        )
    )
    return {cpu: _states(attributes) for cpu, attributes in files.items()}


def _states(attributes: dict[str, str]) -> tuple[IdleState, ...]:
    numbers = sorted({int(re.findall(r"state(\d+)/", key)[0]) for key in attributes})
    return tuple(
        IdleState(
            name=attributes.get(f"cpuidle/state{n}/name", f"state{n}"),
            exit_latency_us=int(attributes.get(f"cpuidle/state{n}/latency", "0")),
            disabled=attributes.get(f"cpuidle/state{n}/disable", "0") != "0",
        )
        for n in numbers
    )


def _caches(reader: Reader, cpus: list[int]) -> tuple[Cache, ...]:
    """The caches seen from the first thread of each core; shared ones once."""
    names = ("level", "type", "size", "shared_cpu_list")
    patterns = [f"{SYS_CPU}/cpu{cpu}/cache/index[0-9]*/{name}" for cpu in cpus for name in names]
    found = set()
    for attributes in _by_cpu(reader.many(patterns, "caches")).values():
        for index in {key.split("/")[1] for key in attributes}:
            value = {name: attributes.get(f"cache/{index}/{name}", "") for name in names}
            size_kib = int(value["size"].removesuffix("K") or 0)
            shared = parse_list(value["shared_cpu_list"])
            found.add((int(value["level"] or 0), shared, value["type"], size_kib))
    return tuple(Cache(level, kind, size, shared) for level, shared, kind, size in sorted(found))


def _model_and_flags(reader: Reader) -> tuple[str, tuple[str, ...]]:
    text = reader.text("/proc/cpuinfo", "cpu_flags") or ""
    model = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    # x86 says "flags", arm64 "Features".
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", text, re.MULTILINE)
    return model[1].strip() if model else "", tuple(sorted(flags[1].split())) if flags else ()
