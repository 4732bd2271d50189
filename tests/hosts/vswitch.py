# SPDX-License-Identifier: Apache-2.0
"""Print like ovs-vsctl and ovs-appctl of a described Open vSwitch."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from tests.hosts.fake_runner import FakeRunner

VSCTL = ["ovs-vsctl", "--timeout=5", "--format=json"]
APPCTL = ["ovs-appctl", "--timeout=5"]


@dataclass(frozen=True)
class Port:
    """One interface of a bridge."""

    name: str
    type: str = "dpdk"
    options: dict[str, str] = field(default_factory=dict)
    mtu: int = 1500
    node: int = 0
    queues: int = 1
    requested_queues: int | None = None
    tx_queues: int = 1
    descriptors: int = 2048
    bond: str | None = None
    """Port of Open vSwitch that it shares with other interfaces."""


@dataclass(frozen=True)
class Pmd:
    core: int
    node: int
    rxqs: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Vswitch:
    version: str
    dpdk_version: str
    other_config: dict[str, str]
    bridges: dict[str, tuple[Port, ...]]
    pmds: tuple[Pmd, ...] = ()


def answer_ovs(fake: FakeRunner, ovs: Vswitch) -> None:
    """Give the runner all answers of this switch."""
    root = {
        "_uuid": ["uuid", "root"],
        "bridges": ["set", [["uuid", name] for name in ovs.bridges]],
        "dpdk_initialized": True,
        "dpdk_version": ovs.dpdk_version,
        "external_ids": _map({}),
        "other_config": _map(ovs.other_config),
        "ovs_version": ovs.version,
    }
    fake.answer([*VSCTL, "list", "Open_vSwitch"], _table([root]))
    bridges, ports, interfaces = [], [], []
    for bridge, members in ovs.bridges.items():
        names = dict.fromkeys(m.bond or m.name for m in members)
        bridges.append(
            {
                "name": bridge,
                "datapath_type": "netdev",
                "ports": ["set", [["uuid", f"port-{name}"] for name in names]],
            }
        )
        for name in names:
            inside = [m for m in members if (m.bond or m.name) == name]
            ids = [["uuid", f"if-{m.name}"] for m in inside]
            ports.append(
                {
                    "_uuid": ["uuid", f"port-{name}"],
                    "name": name,
                    # OVSDB writes a set of one as the bare value.
                    "interfaces": ids[0] if len(ids) == 1 else ["set", ids],
                }
            )
            interfaces.extend(_interface(m) for m in inside)
    fake.answer([*VSCTL, "--columns=name,datapath_type,ports", "list", "Bridge"], _table(bridges))
    fake.answer([*VSCTL, "--columns=_uuid,name,interfaces", "list", "Port"], _table(ports))
    columns = "--columns=_uuid,name,type,options,mtu,mtu_request,status,error"
    fake.answer([*VSCTL, columns, "list", "Interface"], _table(interfaces))
    fake.answer([*APPCTL, "dpctl/show", "--statistics"], _dpctl_show(ovs))
    fake.answer([*APPCTL, "dpif-netdev/pmd-rxq-show"], _pmd_rxq_show(ovs))


def _interface(port: Port) -> dict[str, object]:
    node = {} if port.type == "patch" else {"numa_id": str(port.node)}
    return {
        "_uuid": ["uuid", f"if-{port.name}"],
        "name": port.name,
        "type": port.type,
        "options": _map(port.options),
        "mtu": ["set", []] if port.type == "patch" else port.mtu,
        "mtu_request": port.mtu if port.mtu != 1500 else ["set", []],
        "status": _map(node),
        "error": ["set", []],
    }


def _map(pairs: dict[str, str]) -> list[object]:
    return ["map", [[key, value] for key, value in pairs.items()]]


def _table(rows: list[dict[str, object]]) -> str:
    headings = list(rows[0]) if rows else []
    data = [[row[key] for key in headings] for row in rows]
    return json.dumps({"data": data, "headings": headings}) + "\n"


def _dpctl_show(ovs: Vswitch) -> str:
    """Print in the layout of OVS 2.10 to 3.2."""
    lines = ["netdev@ovs-netdev:", "  lookups: hit:0 missed:0 lost:0", "  flows: 0"]
    ports = [port for members in ovs.bridges.values() for port in members if port.type != "patch"]
    for number, port in enumerate(ports, start=1):
        asked = port.requested_queues or port.queues
        lines.append(
            f"  port {number}: {port.name} ({port.type}: configured_rx_queues={port.queues}, "
            f"configured_rxq_descriptors={port.descriptors}, "
            f"configured_tx_queues={port.tx_queues}, "
            f"configured_txq_descriptors={port.descriptors}, mtu={port.mtu}, "
            f"requested_rx_queues={asked}, requested_rxq_descriptors={port.descriptors}, "
            f"requested_tx_queues={port.tx_queues}, "
            f"requested_txq_descriptors={port.descriptors}, rx_csum_offload=true, "
            "tx_tso_offload=false)"
        )
        lines.append("    RX packets:0 errors:0 dropped:0 overruns:? frame:?")
    return "\n".join(lines) + "\n"


def _pmd_rxq_show(ovs: Vswitch) -> str:
    lines = []
    for pmd in ovs.pmds:
        lines += [f"pmd thread numa_id {pmd.node} core_id {pmd.core}:", "  isolated : false"]
        lines += [
            f"  port: {port:<16}  queue-id: {queue:>2} (enabled)   pmd usage:  0 %"
            for port, queue in pmd.rxqs
        ]
        lines.append("  overhead:  0 %")
    return "\n".join(lines) + "\n"
