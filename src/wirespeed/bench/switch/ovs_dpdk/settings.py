# SPDX-License-Identifier: Apache-2.0
"""Read the settings of the bench's Open vSwitch: rules, groups, meters, ports, database.

Rules come from the control socket, rows from the database's socket, ports from the bridge's. Only
for groups and meters is ovs-ofctl started, where a rule uses some.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from wirespeed.bench.interface import BenchError
from wirespeed.bench.switch.ovs_dpdk.control import Control
from wirespeed.sources.pmd_rxq import parse_pmd_rxq_show

_TABLES = (
    "Open_vSwitch", "Bridge", "Port", "Interface", "Flow_Table", "QoS", "Queue", "Mirror",
    "NetFlow", "sFlow", "IPFIX", "Flow_Sample_Collector_Set", "Controller",
)  # fmt: skip
# Columns that are no settings: Open vSwitch writes them, they list rows that are read anyway, or
# other programs keep notes there. admin_state, link_state, mtu and ofport of Interface count as
# settings: they show whether it passes frames.
_NO_SETTINGS = frozenset({
    "_version", "external_ids", "name", "bridges", "ports", "interfaces", "datapaths", "cur_cfg",
    "next_cfg", "statistics", "status", "rstp_status", "rstp_statistics", "bfd_status", "cfm_fault",
    "cfm_fault_status", "cfm_flap_count", "cfm_health", "cfm_remote_mpids", "cfm_remote_opstate",
    "lacp_current", "bond_active_slave", "link_resets", "link_speed", "duplex", "ifindex",
    "mac_in_use", "is_connected", "role", "datapath_id",
})  # fmt: skip
_COUNTERS = re.compile(r"(cookie|duration|n_packets|n_bytes|idle_age|hard_age)=[^,]*,\s*")
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
        for port, bits in control.port_configs(bridge).items():
            found[f"port {port}, config"] = bits
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


def queues(shown: str) -> Iterator[tuple[str, str]]:
    """Yield the CPU whose PMD thread polls each queue, from pmd-rxq-show."""
    for pmd in parse_pmd_rxq_show(shown):
        for rxq in pmd.rxqs:
            state = "enabled" if rxq.enabled else "disabled"
            yield f"queue {rxq.queue} of {rxq.port}", f"CPU {pmd.core} ({state})"


def _rows(control: Control) -> Iterator[tuple[str, str]]:
    operations = [{"op": "select", "table": table, "where": []} for table in _TABLES]
    answers = control.transact("Open_vSwitch", *operations)
    tables = {}
    # An operation that fails ends the transaction: its answer is an error, and none follows.
    for table, answer in zip_longest(_TABLES, answers):
        if not isinstance(answer, dict) or "rows" not in answer:
            raise BenchError(f"the database refused to show the table {table}: {answer}")
        tables[table] = answer["rows"]
    return database(tables)


def database(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[tuple[str, str]]:
    """Yield the settings in all columns of each table's rows (RFC 7047, 5.1).

    A row is named by its table and name; without a name, by the first digits of its UUID, as rows
    that refer to it name it.
    """
    named = {
        row["_uuid"][1]: _name(table, row) for table, rows in tables.items() for row in rows
    }  # fmt: skip
    for row in (row for rows in tables.values() for row in rows):
        uuid = row["_uuid"][1]
        for column in sorted(row.keys() - _NO_SETTINGS - {"_uuid"}):
            yield from _values(named, f"{named[uuid]}, {column}", row[column])


def _name(table: str, row: Mapping[str, Any]) -> str:
    """Name a row; there is one of Open_vSwitch."""
    return table if table == "Open_vSwitch" else f"{table} {row.get('name', row['_uuid'][1][:8])}"


def _values(named: Mapping[str, str], setting: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the settings of a column: one for each key of a map, none for an empty set."""
    if isinstance(value, list) and value[0] == "map":
        yield from ((f"{setting}:{key}", _word(named, word)) for key, word in value[1])
    elif isinstance(value, list) and value[0] == "set":
        if value[1]:
            yield setting, " ".join(_word(named, word) for word in value[1])
    else:
        yield setting, _word(named, value)


def _word(named: Mapping[str, str], value: Any) -> str:
    """Write a value as text: a row that it refers to by name."""
    return named.get(value[1], value[1]) if isinstance(value, list) else str(value)
