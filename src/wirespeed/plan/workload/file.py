# SPDX-License-Identifier: Apache-2.0
"""Parse a workload file.

Tables are written in the singular ([[vnf]], [[vnf.port]]); CPU sets and page sizes as text
("0-3,8", "1GiB"). All errors of the file are reported at once, as FileFaults.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from dataclasses import replace
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict
from pydantic_core import ErrorDetails

from wirespeed.document.toml_kind import TomlKind
from wirespeed.document.validation import NO_LIST, NO_TABLE, UNKNOWN, fault_of
from wirespeed.model.cpuset import parse_list
from wirespeed.model.input.fault import ABSENT, Fault
from wirespeed.model.input.text import LINE, Label, Prose
from wirespeed.model.plan.host_rules import (
    CoreRules,
    KernelRules,
    MemoryRules,
    PlacementRules,
    VswitchRules,
)
from wirespeed.model.plan.workload import (
    Aggregate,
    Chain,
    Group,
    Nic,
    PciAlias,
    Pool,
    ProviderNetwork,
    Vnf,
    Workload,
)
from wirespeed.plan.errors import FileFaults
from wirespeed.plan.nova.image_settings import merge_image_settings
from wirespeed.plan.workload.rules import broken_rules, finish

_HELP = "docs/howto/write-a-workload.md explains every key."

# Name of a list of tables in the file, and in the Workload.
_TABLES = {
    "vnf": "vnfs", "network": "networks", "nic": "nics", "alias": "aliases", "chain": "chains",
    "group": "groups", "aggregate": "aggregates", "pool": "pools",
}  # fmt: skip
_VNF_TABLES = {"port": "ports", "device": "devices", "container": "containers"}
# Field of VswitchRules that has the tables [vswitch.NAME].
_OWN = "own"
_VNF_SINGULARS = {plural: singular for singular, plural in _VNF_TABLES.items()}


class _File(BaseModel):
    """Tables of a workload file; the configuration also applies to the dataclasses inside."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    name: Label
    description: Prose = ""
    vnfs: tuple[Vnf, ...] = ()
    networks: tuple[ProviderNetwork, ...] = ()
    nics: tuple[Nic, ...] = ()
    aliases: tuple[PciAlias, ...] = ()
    chains: tuple[Chain, ...] = ()
    groups: tuple[Group, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    pools: tuple[Pool, ...] = ()
    cores: CoreRules = CoreRules()
    vswitch: VswitchRules = VswitchRules()
    memory: MemoryRules = MemoryRules()
    kernel: KernelRules = KernelRules()
    placement: PlacementRules = PlacementRules()


def parse_workload(text: str, source: str) -> Workload:
    """Return the workload in TOML text. Raises FileFaults.

    source: name of the file in errors.
    """
    table: dict[str, Any] = {}
    kind = TomlKind(_validated, _HELP, lambda detail: _fault(detail, table))
    faults: list[Fault] = []
    table |= _plural_tables(kind.tables(text, source), faults)
    _gather_own_tables(table.get("vswitch"), faults)
    for vnf in _tables(table.get("vnfs")):
        faults += merge_image_settings(vnf, f"vnf[{vnf.get('name', '?')}]")
    read = kind.read(table, faults)
    if read is None:
        raise FileFaults(source, faults, _HELP)
    workload = Workload(**{name: getattr(read, name) for name in _File.model_fields})
    faults += broken_rules(workload)
    if faults:
        raise FileFaults(source, faults, _HELP)
    return finish(workload)


def _validated(table: dict[str, Any]) -> _File:
    """Validate strictly as JSON: lists become tuples and texts enums; "4" is no number."""
    return _File.model_validate_json(json.dumps(table, default=str))


def _plural_tables(raw: dict[str, Any], faults: list[Fault]) -> dict[str, Any]:
    """Return the file's tables under the Workload's names, with CPU sets and sizes as numbers."""
    table = {_TABLES.get(key, key): value for key, value in raw.items() if key not in _PLURALS}
    for key in sorted(_PLURALS & set(raw)):
        faults.append(Fault(key, ABSENT, f"unknown key; write [[{_PLURALS_BACK[key]}]]"))
    for vnf in _tables(table.get("vnfs")):
        where = f"vnf[{vnf.get('name', '?')}]"
        for singular, plural in _VNF_TABLES.items():
            if plural in vnf:
                faults.append(Fault(f"{where}.{plural}", ABSENT, f"write [[vnf.{singular}]]"))
            if singular in vnf:
                vnf[plural] = vnf.pop(singular)
        _read_page_size(vnf, "page_size", where, faults)
        _read_containers(vnf, where, faults)
        _read_cpus(vnf, "dedicated_cpus", where, faults)
        if isinstance(vnf.get("numa_cpus"), list):
            vnf["numa_cpus"] = [
                _cpus(item, f"{where}.numa_cpus", faults) for item in vnf["numa_cpus"]
            ]
    for pool in _tables(table.get("pools")):
        if isinstance(pool.get("kubernetes"), int | float):
            where = f"pool[{pool.get('name', '?')}].kubernetes"
            faults.append(Fault(where, pool.pop("kubernetes"), 'write it in quotes, as "1.34"'))
    for cores in _tables([table.get("cores")]):
        _read_cpus(cores, "idle_cpus", "cores", faults)
        if isinstance(cores.get("pmd_cores"), dict):
            cores["pmd_cores"] = {
                int(k) if k.isdecimal() else k: v for k, v in cores["pmd_cores"].items()
            }
    for memory in _tables([table.get("memory")]):
        if "page_size" in memory:
            size = _page_kib(memory.pop("page_size"), "memory.page_size", faults)
            memory["page_size_kib"] = size
    return table


def _gather_own_tables(vswitch: object, faults: list[Fault]) -> None:
    """Put the tables of types of vSwitch into one; the planner knows the keys of each type."""
    if not isinstance(vswitch, dict):
        return
    if _OWN in vswitch and not isinstance(vswitch[_OWN], dict):
        unknown = _unknown(_OWN, ("vswitch", _OWN))
        faults.append(Fault(f"vswitch.{_OWN}", vswitch.pop(_OWN), unknown))
    tables = [name for name, value in vswitch.items() if isinstance(value, dict)]
    own = {name: vswitch.pop(name) for name in tables}
    for name, table in own.items():
        for key in [key for key, value in table.items() if not _is_own_value(value)]:
            wanted = f"must be a number, true, false or {LINE.wanted}"
            faults.append(Fault(f"vswitch.{name}.{key}", table.pop(key), wanted))
    if own:
        vswitch[_OWN] = own


def _is_own_value(value: object) -> bool:
    return LINE.fits(value) if isinstance(value, str) else isinstance(value, int | float)


def _read_containers(vnf: dict[str, Any], where: str, faults: list[Fault]) -> None:
    """Read the page sizes of a pod's containers, and give the pod the sums over them."""
    containers = _tables(vnf.get("containers"))
    for container in containers:
        name = f"{where}.container[{container.get('name', '?')}]"
        _read_page_size(container, "page_size", name, faults)
    if vnf.get("kind") != "pod":
        return
    for total, part in (("vcpus", "cpus"), ("memory_mib", "memory_mib")):
        if total in vnf:
            faults.append(Fault(f"{where}.{total}", vnf[total], "follows from the containers"))
        sizes = [c[part] for c in containers if isinstance(c.get(part), int | float)]
        vnf[total] = max(1, math.ceil(sum(filter(math.isfinite, sizes))))


_PLURALS = frozenset(_TABLES.values())
_PLURALS_BACK = {plural: singular for singular, plural in _TABLES.items()}


def _tables(value: Any) -> list[dict[str, Any]]:
    """Return the tables in a list; pydantic reports any other item."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _read_cpus(table: dict[str, Any], key: str, where: str, faults: list[Fault]) -> None:
    if key in table:
        table[key] = _cpus(table[key], f"{where}.{key}", faults)


def _cpus(value: Any, key: str, faults: list[Fault]) -> Any:
    """Convert a CPU list in text form to numbers; a list of numbers stays."""
    if not isinstance(value, str):
        return value
    try:
        return parse_list(value)
    except ValueError as error:
        faults.append(Fault(key, value, str(error)))
        return ()


def _read_page_size(vnf: dict[str, Any], key: str, where: str, faults: list[Fault]) -> None:
    value = vnf.get(key)
    if value is None or value in ("small", "large", "any"):
        return
    vnf[key] = str(_page_kib(value, f"{where}.{key}", faults))


def _page_kib(value: Any, key: str, faults: list[Fault]) -> int:
    """Return the KiB of "1GiB", "2MiB", "4KiB"; the i and B are optional, as in 1G."""
    found = re.fullmatch(r"([1-9]\d*)\s*([KMG])(i?B)?", value) if isinstance(value, str) else None
    if found:
        return int(found[1]) * {"K": 1, "M": 1024, "G": 1024 * 1024}[found[2]]
    faults.append(Fault(key, value, 'must be a size as "1GiB", "2MiB" or "4KiB"'))
    return 1048576


def _fault(detail: ErrorDetails, table: dict[str, Any]) -> Fault:
    """Return the error of a key in the file's spelling."""
    loc, key = detail["loc"], _path(detail["loc"], table)
    if detail["type"] in NO_TABLE:
        return Fault(key, detail["input"], "must be a table")
    if detail["type"] in NO_LIST:
        return Fault(key, detail["input"], _list_wanted(loc))
    unknown = _unknown(str(loc[-1]), loc) if detail["type"] in UNKNOWN else ""
    return replace(fault_of(detail, unknown), key=key)


def _list_wanted(loc: tuple[int | str, ...]) -> str:
    """Return how to write a list that was given as a single value."""
    name = str(loc[-1])
    if len(loc) > 1 and loc[0] == "vnfs" and name in _VNF_SINGULARS:
        return f"write [[vnf.{_VNF_SINGULARS[name]}]]"
    if len(loc) == 1 and name in _PLURALS_BACK:
        return f"write [[{_PLURALS_BACK[name]}]]"
    return 'must be a list, as ["..."]'


def _path(loc: tuple[int | str, ...], table: dict[str, Any]) -> str:
    """Return the place of an error in the file's spelling: vnf[bng].port[eth0].rate_fps."""
    words: list[str] = []
    value: Any = table
    for part in loc:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            value = None
        if isinstance(part, int):
            name = value.get("name", part) if isinstance(value, dict) else part
            words[-1] += f"[{name}]"
        elif not (part == _OWN and words == ["vswitch"]):
            inside_vnf = bool(words) and words[0].startswith("vnf")
            singulars = _VNF_SINGULARS if inside_vnf else _PLURALS_BACK
            words.append(singulars.get(part, part))
    return ".".join(words)


def _unknown(name: str, loc: tuple[int | str, ...]) -> str:
    known = _known_keys(loc)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown key.{hint} Known are: {', '.join(known)}"


def _known_keys(loc: tuple[int | str, ...]) -> list[str]:
    """Return the allowed keys of the table at loc, in the file's spelling."""
    kind: Any = _File
    for part in loc[:-1]:
        if isinstance(part, str):
            hint = get_type_hints(kind)[part]
            kind = get_args(hint)[0] if get_args(hint) else hint
    back = _PLURALS_BACK if kind is _File else _VNF_SINGULARS if kind is Vnf else {}
    hidden = ("model_config", _OWN)
    return [back.get(name, name) for name in get_type_hints(kind) if name not in hidden]
