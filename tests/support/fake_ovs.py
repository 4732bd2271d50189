# SPDX-License-Identifier: Apache-2.0
"""Simulate an Open vSwitch database: the output and the changes of ovs-vsctl."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from wirespeed.model.cpuset import parse_mask

_COLUMNS = ("other_config", "bridges", "ports", "interfaces")


@dataclass
class FakeOvs:
    """A database. A power loss forgets the commits that no sync followed, as with ovs-vsctl."""

    other_config: dict[str, str] = field(default_factory=dict)
    bridges: dict[str, str] = field(default_factory=dict)
    ports: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    """Port to its bridge and its interfaces."""
    interfaces: dict[str, dict[str, Any]] = field(default_factory=dict)

    _disk: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Columns as they are on the disk."""

    def __post_init__(self) -> None:
        self.sync()

    def sync(self) -> None:
        self._disk = deepcopy({name: getattr(self, name) for name in _COLUMNS})

    def lose_power(self, *, keep: bool) -> None:
        if keep:
            self.sync()
        for name, value in deepcopy(self._disk).items():
            setattr(self, name, value)

    def copy(self) -> FakeOvs:
        return deepcopy(self)

    def vsctl(self, words: Sequence[str]) -> str | None:
        """Run a command; return its output, None where it fails."""
        options = [word for word in words if word.startswith("--") and word != "--"]
        if "--format=json" in options:
            return self._table(words[-1])
        command: list[str] = []
        for word in [*words, "--"]:
            if word == "--":
                if not self._change(command):
                    return None
                command = []
            elif not word.startswith("--"):
                command.append(word)
        return ""

    def _change(self, words: list[str]) -> bool:
        match words:
            case ["set", "Open_vSwitch", ".", word]:
                key, _, text = word.removeprefix("other_config:").partition("=")
                self.other_config[key] = text.strip('"')
            case ["remove", "Open_vSwitch", ".", "other_config", *keys]:
                for key in keys:
                    self.other_config.pop(key, None)
            case ["add-br", name]:
                self.bridges.setdefault(name, "")
            case ["set", "Bridge", name, word]:
                self.bridges[name] = word.partition("=")[2]
            case ["del-br", name]:
                self.bridges.pop(name, None)
                for port in [p for p, (bridge, _) in self.ports.items() if bridge == name]:
                    self._remove(port)
            case ["del-port", name]:
                self._remove(name)
            case ["add-port", bridge, name]:
                self._add(bridge, name, [name])
            case ["add-bond", bridge, name, *members]:
                self._add(bridge, name, [m for m in members if "=" not in m])
            case ["set", "Interface", name, *columns]:
                self._set(self.interfaces[name], columns)
            case _:
                return False
        return True

    def _add(self, bridge: str, name: str, members: list[str]) -> None:
        self.ports.setdefault(name, (bridge, members))
        for member in members:
            self.interfaces.setdefault(member, {"type": "", "options": {}, "mtu_request": None})

    def _remove(self, name: str) -> None:
        _, members = self.ports.pop(name, ("", []))
        for member in members:
            del self.interfaces[member]

    def _set(self, row: dict[str, Any], columns: list[str]) -> None:
        for column in columns:
            key, _, text = column.partition("=")
            value = text.strip('"')
            if key.startswith("options:"):
                row["options"][key.removeprefix("options:")] = value
            else:
                row[key] = int(value) if key == "mtu_request" else value

    def pmd_rxq_show(self, nodes: Mapping[int, Collection[int]]) -> str:
        """Return ovs-appctl's output on the PMD threads. nodes: CPUs by NUMA node."""
        mask = self.other_config.get("pmd-cpu-mask", "0x0")
        return "".join(
            f"pmd thread numa_id {node} core_id {cpu}:\n  isolated : false\n"
            for node, cpus in nodes.items()
            for cpu in sorted(set(cpus) & set(parse_mask(mask)))
        )

    def _table(self, name: str) -> str:
        rows: dict[str, list[dict[str, Any]]] = {
            "Open_vSwitch": [
                {
                    "ovs_version": "3.5.0",
                    "dpdk_initialized": self.other_config.get("dpdk-init") == "true",
                    "dpdk_version": "DPDK 24.11",
                    "other_config": _map(self.other_config),
                }
            ],
            "Bridge": [
                {
                    "name": name,
                    "datapath_type": kind,
                    "ports": _set_of(p for p, (b, _) in self.ports.items() if b == name),
                }
                for name, kind in self.bridges.items()
            ],
            "Port": [
                {"_uuid": ["uuid", f"port-{name}"], "name": name,
                 "interfaces": ["set", [["uuid", f"if-{m}"] for m in members]]}
                for name, (_, members) in self.ports.items()
            ],
            "Interface": [
                {"_uuid": ["uuid", f"if-{name}"], "name": name, "type": row["type"],
                 "options": _map(row["options"]), "mtu": ["set", []],
                 "mtu_request": row["mtu_request"] or ["set", []],
                 "status": _map({}), "error": ["set", []]}
                for name, row in self.interfaces.items()
            ],
        }  # fmt: skip
        table = rows[name]
        headings = list(table[0]) if table else []
        return json.dumps({"headings": headings, "data": [list(row.values()) for row in table]})


def _map(values: dict[str, str]) -> list[Any]:
    return ["map", [[key, text] for key, text in values.items()]]


def _set_of(names: Any) -> list[Any]:
    return ["set", [["uuid", f"port-{name}"] for name in names]]
