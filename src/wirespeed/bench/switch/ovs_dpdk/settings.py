# SPDX-License-Identifier: Apache-2.0
"""Read the settings of the bench's Open vSwitch: rules, groups, meters, ports, database.

Rules come from the control socket, rows from the database's socket. Only ovs-ofctl is started: once
for the ports, and for groups and meters where a rule uses some.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from wirespeed.bench.interface import BenchError
from wirespeed.bench.switch.ovs_dpdk import rpc
from wirespeed.bench.switch.ovs_dpdk.control import Control

# Columns that users set; of Interface also those that show whether it passes frames.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "Open_vSwitch": ("other_config",),
    "Bridge": ("name", "fail_mode", "other_config", "mcast_snooping_enable", "stp_enable"),
    "Port": ("name", "tag", "trunks", "vlan_mode", "other_config", "qos", "bond_mode"),
    "Interface": (
        "name", "admin_state", "link_state", "mtu", "options", "other_config",
        "ingress_policing_rate", "ingress_policing_burst", "ofport",
    ),
    "QoS": ("type", "other_config"),
    "Mirror": ("name", "select_all", "output_port"),
}  # fmt: skip
_COUNTERS = re.compile(r"(cookie|duration|n_packets|n_bytes|idle_age|hard_age)=[^,]*,\s*")
_PORT = re.compile(
    r"^ \S+?\((?P<name>[^)]+)\):.*?\n\s+config:\s+(?P<config>.*?)\n\s+state:\s+(?P<state>.*?)\n",
    re.MULTILINE | re.DOTALL,
)
_PMD = re.compile(r"^pmd thread .*core_id (?P<core>\d+):$", re.MULTILINE)
_QUEUE = re.compile(r"port:\s+(\S+)\s+queue-id:\s+(\d+)\s+\((\w+)\)")
_USED = {"group": re.compile(r"group:\d+"), "meter": re.compile(r"meter:\d+")}


def settings(control: Control, bridges: Sequence[str], who: str) -> Mapping[str, str]:
    """Return all settings that users may change while frames flow, by readable name.

    who: begins each name.
    """
    found = dict(_rows(control))
    found.update(queues(control.ask("dpif-netdev/pmd-rxq-show")))
    for bridge in bridges:
        shown = control.ask("bridge/dump-flows", bridge)
        found.update(rules(shown))
        found.update(ports(control.ofctl("dump-ports-desc", bridge=bridge)))
        for what, used in _USED.items():
            if used.search(shown):
                told = control.ofctl(f"dump-{what}s", bridge=bridge)
                found[f"{what}s of {bridge}"] = " ".join(told.partition("\n")[2].split())
    return {f"{who}: {name}": value for name, value in found.items()}


def rules(shown: str) -> Mapping[str, str]:
    """Return actions by match, from bridge/dump-flows."""
    split = (line.partition("actions=") for line in counted_rules(shown))
    return {f"rule {match.rstrip(', ')}": actions for match, _, actions in split}


def counted_rules(shown: str) -> Mapping[str, str]:
    """Return lines of bridge/dump-flows, by the same line without counters.

    The hidden table 254 is excluded: its rules are Open vSwitch's own.
    """
    lines = (line for line in shown.splitlines() if line and "table_id=254" not in line)
    return {_COUNTERS.sub("", line).strip(): line for line in lines}


def ports(shown: str) -> Mapping[str, str]:
    """Return the configuration bits of each port (OFPPC_*) from dump-ports-desc; 0 for none."""
    return {f"port {m['name']}, config": m["config"] for m in _PORT.finditer(shown)}


def queues(shown: str) -> Iterator[tuple[str, str]]:
    """Yield the CPU whose PMD thread polls each queue, from pmd-rxq-show."""
    _, *parts = _PMD.split(shown)
    for core, text in zip(parts[::2], parts[1::2], strict=True):
        for port, queue, state in _QUEUE.findall(text):
            yield f"queue {queue} of {port}", f"CPU {core} ({state})"


def _rows(control: Control) -> Iterator[tuple[str, str]]:
    operations = [
        {"op": "select", "table": table, "where": [], "columns": list(columns)}
        for table, columns in _COLUMNS.items()
    ]
    answers = rpc.request(
        control.runner, control.database.removeprefix("unix:"), "transact",
        ["Open_vSwitch", *operations],
    )  # fmt: skip
    # An operation that fails ends the transaction: its answer is an error, and none follows.
    for table, answer in zip_longest(_COLUMNS, answers):
        if not isinstance(answer, dict) or "rows" not in answer:
            raise BenchError(f"the database refused to show the table {table}: {answer}")
        for number, row in enumerate(answer["rows"]):
            name = row.pop("name", number if len(answer["rows"]) > 1 else "")
            for column, value in row.items():
                yield from _values(f"{table} {name}".strip(), column, value)


def _values(row: str, column: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the settings of a column: one for each key of a map, none for an empty set."""
    if isinstance(value, list) and value[0] == "map":
        yield from ((f"{row}, {column}:{key}", str(word)) for key, word in value[1])
    elif isinstance(value, list) and value[0] == "set":
        if value[1]:
            yield f"{row}, {column}", " ".join(map(str, value[1]))
    else:
        yield f"{row}, {column}", value[1] if isinstance(value, list) else str(value)
