# SPDX-License-Identifier: Apache-2.0
"""Write OVSDB's tables in JSON from what `ovs-vsctl list` and `ovs-vsctl show` printed.

Source: ovs-vsctl(8), "Database Values"; ovsdb_atom_to_string() and cmd_show_row() of OVS 2.11 to
3.5. A string is printed bare where it is an identifier, otherwise as JSON writes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from wirespeed.model.input.bounded import load_json

_COLUMN = re.compile(r"([a-z_A-Z0-9]+)\s*: (.*)")
# A string without its end goes to the end of the line: it is looked through once.
_ATOM = re.compile(r'"(?:[^"\\]|\\.?)*(?:"|$)|[^\s\[\]{},="]+')
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NUMBER = re.compile(r"-?[0-9]{1,18}")
_SHOWN = re.compile(r"(?P<deep> +)(?P<key>Bridge|Port|Interface|datapath_type:) (?P<value>\S.*)")
_WORDS = {"true": True, "false": False}

Row = dict[str, Any]


@dataclass(slots=True)
class Bridge:
    """A bridge as `ovs-vsctl show` prints it; ports: the interfaces of each."""

    name: str
    datapath_type: str = ""
    ports: dict[str, list[str]] = field(default_factory=dict)


def rows(printed: str) -> list[Row]:
    """Return the rows of `ovs-vsctl list TABLE`. Raises ValueError for another text."""
    found: list[Row] = []
    for block in re.split(r"\n{2,}", printed.strip()):
        row = {}
        for line in block.split("\n"):
            column = _COLUMN.fullmatch(line)
            if column is None:
                raise ValueError(f"{line[:60]!r} is no column of a table")
            row[column[1]] = _value(column[2].strip())
        found.append(row)
    return found


def bridges(printed: str) -> list[Bridge]:
    """Return the bridges of `ovs-vsctl show`."""
    found: list[Bridge] = []
    port: list[str] = []
    for line in printed.split("\n"):
        shown = _SHOWN.fullmatch(line)
        if shown is None:
            continue
        name = str(_atom(shown["value"].strip()))
        if shown["key"] == "Bridge":
            found.append(Bridge(name))
        elif not found:
            continue
        elif shown["key"] == "Port":
            port = found[-1].ports.setdefault(name, [])
        elif shown["key"] == "Interface":
            port.append(name)
        elif len(shown["deep"]) == 8:
            found[-1].datapath_type = name
    return found


def tables(switches: list[Row], shown: list[Bridge], interfaces: list[Row]) -> Mapping[str, str]:
    """Return the tables as `ovs-vsctl --format=json` prints them, by name.

    A port has no row in what sos collects; its name stands for its UUID.
    """
    ids = {row.get("name"): row.get("_uuid") for row in interfaces}
    ports = [(name, members) for bridge in shown for name, members in bridge.ports.items()]
    return {
        "Open_vSwitch": _table(switches),
        "Bridge": _table(
            {
                "name": bridge.name,
                "datapath_type": bridge.datapath_type,
                "ports": ["set", [["uuid", name] for name in bridge.ports]],
            }
            for bridge in shown
        ),
        "Port": _table(
            {
                "_uuid": ["uuid", name],
                "name": name,
                "interfaces": ["set", [ids[each] for each in members if each in ids]],
            }
            for name, members in ports
        ),
        "Interface": _table(interfaces),
    }


def _table(found: Iterator[Row] | list[Row]) -> str:
    data = list(found)
    headings = list(dict.fromkeys(key for row in data for key in row))
    cells = [[row.get(key, ["set", []]) for key in headings] for row in data]
    return json.dumps({"headings": headings, "data": cells})


def _value(text: str) -> Any:
    if text.startswith("["):
        return ["set", [_atom(atom) for atom in _ATOM.findall(text)]]
    if text.startswith("{"):
        # Keys and values of Open vSwitch's maps are strings.
        words = [_string(atom) for atom in _ATOM.findall(text)]
        return ["map", [list(pair) for pair in zip(words[::2], words[1::2], strict=False)]]
    return _atom(text)


def _atom(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        return int(text)
    return ["uuid", text] if _UUID.fullmatch(text) else _string(text)


def _string(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(load_json(text))
    except ValueError:
        return text.strip('"')
