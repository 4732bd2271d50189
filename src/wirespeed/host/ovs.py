# SPDX-License-Identifier: Apache-2.0
"""Read the configuration of the host's Open vSwitch, and the rxqs that each PMD thread polls.

The database answers in JSON. pmd-rxq-show and dpctl/show print text only, in the layout of OVS 2.10
to 3.5. A host without a database at the default socket (or OVS_RUNDIR) has no Open vSwitch. Source:
ovs-vswitchd.conf.db(5), Documentation/topics/dpdk/.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from wirespeed.host.reader import Reader
from wirespeed.model.host.ovs_facts import Bridge, OvsFacts, OvsInterface, PmdThread
from wirespeed.model.input.fault import show
from wirespeed.sources.ovsdb import Row, parse_table
from wirespeed.sources.pmd_rxq import parse_pmd_rxq_show

VSCTL = ["ovs-vsctl", "--timeout=5", "--format=json"]
APPCTL = ["ovs-appctl", "--timeout=5"]
INTERFACE_COLUMNS = "_uuid,name,type,options,mtu,mtu_request,status,error"

_PCI = re.compile(r"\b(?:([0-9a-fA-F]{4}):)?([0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])\b")
# dpctl/show: the datapath, its counters, its ports with their types and options, their counters.
_SHOWN = re.compile(
    r"\S+@\S+:| +(?:lookups|flows|masks|caches?|RX|TX|collisions)\b.*"
    r"| +port \d+: (?P<port>\S+) \([\w-]+(?:: (?P<options>.*))?\)"
)

# The fact whose note names omitted parts.
_PARTS = "ovs.interfaces"


def read_ovs(reader: Reader) -> OvsFacts | None:
    """Return the running Open vSwitch; None where there is none or it does not answer."""
    root = table(reader, ["list", "Open_vSwitch"])
    if not root:
        return None
    tables = {
        "Open_vSwitch": root,
        "Bridge": table(reader, ["--columns=name,datapath_type,ports", "list", "Bridge"]),
        "Port": table(reader, ["--columns=_uuid,name,interfaces", "list", "Port"]),
        "Interface": table(reader, [f"--columns={INTERFACE_COLUMNS}", "list", "Interface"]),
    }
    try:
        return _facts(reader, tables)
    except (KeyError, TypeError, AttributeError) as fault:
        reader.fault("ovs-vsctl", f"a table lacks a column or has another type there: {fault!r}")
        return None


def _facts(reader: Reader, tables: Mapping[str, list[Row]]) -> OvsFacts:
    root = tables["Open_vSwitch"]
    userspace = any(bridge["datapath_type"] == "netdev" for bridge in tables["Bridge"])
    shown = _appctl(reader, "dpctl/show", "--statistics") if userspace else ""
    pmds = _appctl(reader, "dpif-netdev/pmd-rxq-show") if userspace else ""
    return OvsFacts(
        version=_text(root[0].get("ovs_version")) or "",
        dpdk_initialized=root[0].get("dpdk_initialized") is True,
        other_config=_mapping(root[0].get("other_config", {})),
        dpdk_version=_text(root[0].get("dpdk_version")),
        bridges=_bridges(reader, tables),
        interfaces=_interfaces(reader, tables, _datapath_ports(reader, shown or "")),
        pmds=None if pmds is None else _pmds(reader, pmds),
    )


def table(reader: Reader, arguments: list[str]) -> list[Row]:
    """Return the rows that ovs-vsctl lists; empty where the database does not answer."""
    options = [word for word in arguments if word.startswith("--")]
    command = [word for word in arguments if not word.startswith("--")]
    done = reader.command([*VSCTL, *options, *command], "ovs")
    if done is None:
        return []
    if done.exit_code != 0:
        error = done.stderr.strip()
        if "Permission denied" in error:
            reader.lacks("ovs", f"needs root: {error}")
        elif "No such file" not in error and "Connection refused" not in error:
            reader.lacks("ovs", error or f"ovs-vsctl ended with {done.exit_code}")
        return []
    try:
        return parse_table(done.stdout)
    except (ValueError, KeyError, TypeError):
        reader.fault(" ".join(done.argv), f"is not an OVSDB table in JSON: {done.stdout[:60]!r}")
        return []


def _one(value: Any) -> Any:
    """Return the value of an optional column: OVSDB writes an empty set for no value."""
    return (value[0] if value else None) if isinstance(value, list) else value


def _text(value: Any) -> str | None:
    found = _one(value)
    return None if found is None else str(found)


def _name(row: Row) -> str:
    return str(row["name"])


def _integer(value: Any) -> int | None:
    """Return a whole number, or None for no value. Raises TypeError for anything else."""
    found = _one(value)
    if found is not None and type(found) is not int:
        raise TypeError(f"{found!r} is not a whole number")
    return found


def _mapping(value: Any) -> Mapping[str, str]:
    """Return a map column. Raises TypeError for anything else."""
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is not a map")
    return value


def _appctl(reader: Reader, *command: str) -> str | None:
    """Return the daemon's answer; None, noted as missing, where the control socket needs root."""
    done = reader.command([*APPCTL, *command], "ovs.pmds")
    if done is None:
        reader.lacks("ovs.pmds", "needs ovs-appctl")
        return None
    if done.exit_code != 0:
        error = done.stderr.strip().split("\n")[-1]
        reader.lacks("ovs.pmds", f"needs root: {error}" if "Permission" in error else error)
        return None
    return done.stdout


def _rows(reader: Reader, rows: Mapping[str, Row], uuids: Any, where: str) -> list[Row]:
    """Return the rows that a column refers to; note a reference to none."""
    wanted = uuids if isinstance(uuids, list) else [uuids]  # a set of one is the bare value
    for uuid in wanted:
        if uuid not in rows:
            reader.lacks(_PARTS, f"{where}: no row {show(uuid)}")
    return [rows[uuid] for uuid in wanted if uuid in rows]


def _bridges(reader: Reader, tables: Mapping[str, list[Row]]) -> tuple[Bridge, ...]:
    ports = {row["_uuid"]: row for row in tables["Port"]}
    return tuple(
        Bridge(
            name=_name(row),
            datapath_type=_text(row["datapath_type"]) or "system",
            ports=tuple(
                sorted(port["name"] for port in _rows(reader, ports, row["ports"], _name(row)))
            ),
        )
        for row in sorted(tables["Bridge"], key=lambda row: str(row["name"]))
    )


def _interfaces(
    reader: Reader, tables: Mapping[str, list[Row]], datapath: Mapping[str, Mapping[str, str]]
) -> tuple[OvsInterface, ...]:
    rows = {row["_uuid"]: row for row in tables["Interface"]}
    ports = {row["_uuid"]: row for row in tables["Port"]}
    found = []
    for bridge in tables["Bridge"]:
        for port in _rows(reader, ports, bridge["ports"], _name(bridge)):
            members = _rows(reader, rows, port["interfaces"], _name(port))
            bond = port["name"] if len(members) > 1 else None
            for row in members:
                shown = datapath.get(row["name"], {})
                found.append(_interface(reader, row, bridge["name"], bond, shown))
    return tuple(sorted(found, key=lambda interface: (interface.bridge, interface.name)))


def _interface(
    reader: Reader, row: Row, bridge: str, bond: str | None, shown: Mapping[str, str]
) -> OvsInterface:
    status, options = _mapping(row["status"]), _mapping(row["options"])
    whole = partial(reader.count, _PARTS, _name(row))
    return OvsInterface(
        name=_name(row),
        bridge=bridge,
        type=_text(row["type"]) or "system",
        options=options,
        mtu=_integer(row["mtu"]) or None,
        mtu_request=_integer(row["mtu_request"]),
        bond=bond,
        pci=_pci(options.get("dpdk-devargs", "")),
        node=whole(status.get("numa_id", status.get("numa"))),
        error=_text(row["error"]),
        # Up to OVS 3.2, dpctl/show has the requested and the configured queues. Later versions show
        # the requested queues there and the queues in use in the interface's status.
        requested_rx_queues=whole(shown.get("requested_rx_queues", shown.get("n_rxq"))),
        configured_rx_queues=whole(shown.get("configured_rx_queues", status.get("n_rxq"))),
        requested_tx_queues=whole(shown.get("requested_tx_queues")),
        configured_tx_queues=whole(shown.get("configured_tx_queues", status.get("n_txq"))),
        rx_descriptors=whole(shown.get("configured_rxq_descriptors", shown.get("n_rxq_desc"))),
        tx_descriptors=whole(shown.get("configured_txq_descriptors", shown.get("n_txq_desc"))),
    )


def _pci(devargs: str) -> str | None:
    found = _PCI.search(devargs)
    return f"{found[1] or '0000'}:{found[2]}".lower() if found else None


def _datapath_ports(reader: Reader, shown: str) -> dict[str, dict[str, str]]:
    """Return the options that `dpctl/show` prints in parentheses after each port, by port name."""
    ports = {}
    for found in reader.matches(_PARTS, "dpctl/show", shown, _SHOWN, "a port or a counter"):
        if found["options"]:
            pairs = (word.partition("=") for word in found["options"].split(", "))
            ports[found["port"]] = {key: value for key, _, value in pairs}
    return ports


def _pmds(reader: Reader, shown: str) -> tuple[PmdThread, ...]:
    threads = parse_pmd_rxq_show(shown)
    if shown.strip() and not threads:
        reader.lacks("ovs.pmds", f"pmd-rxq-show lists no PMD thread: {shown.strip()!r}")
    return threads
