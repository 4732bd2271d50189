# SPDX-License-Identifier: Apache-2.0
"""Set up Open vSwitch with DPDK: other_config, bridges and ports, named as in `plan render`.

Its database survives reboots, so nothing is done at boot. ovsdb-server writes a transaction without
fsync unless the client asks for a durable commit (RFC 7047, 5.2.10). ovs-vsctl has no option for
that, so sync follows each change. A restart of ovs-vswitchd stops the traffic of all guests; it is
left to the operator or a reboot.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from wirespeed.apply.actions import Action, Run
from wirespeed.apply.setting import Setting, Value
from wirespeed.apply.step import Step
from wirespeed.host.ovs import table
from wirespeed.host.reader import Reader
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.bounded import load_json
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.plan.render.ovs import BridgePort, bridges, other_config
from wirespeed.remote.interface import Runner

_VSCTL = ("ovs-vsctl", "--timeout=10", "--no-wait")
_SYNC = Run(("sync",))
_OPTIONS = ("dpdk-devargs", "n_rxq", "n_rxq_desc", "n_txq_desc")


@dataclass(frozen=True, slots=True)
class OvsKeys(Setting):
    """Keys of other_config. The value is a JSON object: key to value, null for none."""

    keys: tuple[str, ...]
    at_start: tuple[str, ...]

    @property
    def name(self) -> str:
        return "Open vSwitch other_config"

    def read(self, runner: Runner) -> Value:
        rows = table(Reader(runner), ["--columns=other_config", "list", "Open_vSwitch"])
        found = rows[0]["other_config"] if rows else {}
        return json.dumps({key: found.get(key) for key in self.keys})

    def actions(self, value: Value) -> tuple[Action, ...]:
        wanted = load_json(value or "{}")
        gone = [key for key, text in wanted.items() if text is None]
        words = [f'other_config:{key}="{text}"' for key, text in wanted.items() if text is not None]
        made = [Run((*_VSCTL, "set", "Open_vSwitch", ".", word)) for word in words]
        if gone:
            made.insert(0, Run((*_VSCTL, "remove", "Open_vSwitch", ".", "other_config", *gone)))
        return (*made, _SYNC)

    def why_restart(self, old: Value, new: Value) -> str | None:
        """Return a reason if a key changes that was set and is read at the start alone."""
        was, wanted = load_json(old or "{}"), load_json(new or "{}")
        late = any(was[key] not in (None, wanted[key]) for key in self.at_start)
        return "ovs-vswitchd reads it at its start: restart it, or reboot" if late else None

    def shown(self, value: Value) -> str:
        known = load_json(value or "{}")
        return " ".join(f"{key}={text}" for key, text in known.items() if text) or "nothing set"


@dataclass(frozen=True, slots=True)
class OvsPorts(Setting):
    """Bridges and DPDK ports of the plan.

    The value is JSON: {"bridges": {name: datapath_type}, "ports": {name: {bridge, port, type,
    options, mtu_request}}}, null for none. port: the bond of an interface, else the interface's own
    name.
    """

    risks_connection: ClassVar[bool] = True

    bridges: tuple[str, ...]
    ports: tuple[str, ...]

    @property
    def name(self) -> str:
        return "Open vSwitch bridges and ports"

    def read(self, runner: Runner) -> Value:
        reader = Reader(runner)
        rows = table(reader, ["--columns=name,datapath_type,ports", "list", "Bridge"])
        ports = table(reader, ["--columns=_uuid,name,interfaces", "list", "Port"])
        columns = "--columns=_uuid,name,type,options,mtu_request"
        interfaces = table(reader, [columns, "list", "Interface"])
        owner = {uuid: row["name"] for row in rows for uuid in _many(row["ports"])}
        port_of = {uuid: row for row in ports for uuid in _many(row["interfaces"])}
        types = {row["name"]: row["datapath_type"] or "system" for row in rows}
        found: dict[str, Any] = {}
        for row in interfaces:
            port = port_of.get(row["_uuid"])
            if port is not None and port["_uuid"] in owner:
                found[row["name"]] = {
                    "bridge": owner[port["_uuid"]],
                    "port": port["name"],
                    "type": row["type"],
                    "options": {key: row["options"].get(key) for key in _OPTIONS},
                    "mtu_request": row["mtu_request"] if isinstance(row["mtu_request"], int) else 0,
                }
        return json.dumps(
            {
                "bridges": {name: types.get(name) for name in self.bridges},
                "ports": {name: found.get(name) for name in self.ports},
            }
        )

    def actions(self, value: Value) -> tuple[Action, ...]:
        wanted = load_json(value or "{}")
        made: list[Action] = []
        # Afterwards, a bond looks like a port with the name of one of its interfaces. So the plan's
        # ports are deleted and created again.
        for name in dict.fromkeys([*self._port_names(wanted), *self.ports]):
            made.append(Run((*_VSCTL, "--if-exists", "del-port", name)))
        for name, datapath in wanted["bridges"].items():
            if datapath is None:
                made.append(Run((*_VSCTL, "--if-exists", "del-br", name)))
            else:
                word = f"datapath_type={datapath}"
                made.append(Run((*_VSCTL, "--may-exist", "add-br", name, "--", "set", "Bridge",
                                 name, word)))  # fmt: skip
        for name in self._port_names(wanted):
            made.append(_add(name, {n: p for n, p in wanted["ports"].items()
                                    if p and p["port"] == name}))  # fmt: skip
        return (*made, _SYNC)

    def takes(self, facts: HostFacts, value: Value) -> frozenset[str]:
        """Return the interfaces that change, including the internal one of each bridge."""
        del facts, value
        return frozenset((*self.bridges, *self.ports))

    def shown(self, value: Value) -> str:
        known = load_json(value or "{}")
        there = [name for name, datapath in known["bridges"].items() if datapath]
        ports = [
            f"{name} ({port['options'].get('dpdk-devargs') or port['type']}) on {port['bridge']}"
            for name, port in known["ports"].items()
            if port
        ]
        return ", ".join([*there, *ports]) or "none"

    def _port_names(self, wanted: dict[str, Any]) -> list[str]:
        return list(dict.fromkeys(port["port"] for port in wanted["ports"].values() if port))


def ovs_steps(plan: Plan, host: HostPlan) -> list[Step]:
    """Return the steps for other_config, then for bridges and ports."""
    if host.vswitch is None:
        return []
    config = other_config(host.vswitch)
    keys = OvsKeys(tuple(key for key, *_ in config),
                   tuple(key for key, *_, at_start in config if at_start))  # fmt: skip
    wanted = json.dumps({key: value for key, value, *_ in config})
    because = "; ".join(f"{key}: {why}" for key, _, why, _ in config)
    steps = [Step(keys, wanted, "vswitch", because)]
    made = bridges(plan, host)
    ports: dict[str, Any] = {}
    for bridge in made:
        members = [(port.name, port) for port in bridge.ports]
        members += [(bond, port) for bond, of_bond in bridge.bonds for port in of_bond]
        for name, port in members:
            ports[port.name] = _port(host, bridge.name, name, port)
    if made:
        value = {"bridges": {bridge.name: "netdev" for bridge in made}, "ports": ports}
        setting = OvsPorts(tuple(bridge.name for bridge in made), tuple(ports))
        why = f"n_rxq: {host.vswitch.rx_queues.because}; mtu: {host.vswitch.mtu.because}"
        steps.append(Step(setting, json.dumps(value), "vswitch.rx_queues", why))
    return steps


def _port(host: HostPlan, bridge: str, name: str, port: BridgePort) -> dict[str, Any]:
    assert host.vswitch is not None
    descriptors = str(host.vswitch.descriptors.value)
    options = (port.nic.address, str(host.vswitch.rx_queues.value), descriptors, descriptors)
    return {
        "bridge": bridge,
        "port": name,
        "type": "dpdk",
        "options": dict(zip(_OPTIONS, options, strict=True)),
        "mtu_request": port.mtu,
    }


def _add(name: str, members: dict[str, Any]) -> Run:
    """Return one transaction: the port or bond with all options of its interfaces."""
    bridge = next(iter(members.values()))["bridge"]
    words = [*_VSCTL, "--may-exist"]
    if list(members) == [name]:
        words += ["add-port", bridge, name]
    else:
        words += ["add-bond", bridge, name, *members, "bond_mode=balance-slb"]
    for interface, port in members.items():
        words += ["--", "set", "Interface", interface, f"type={port['type']}"]
        words += [f'options:{key}="{text}"' for key, text in port["options"].items() if text]
        if port["mtu_request"]:
            words.append(f"mtu_request={port['mtu_request']}")
    return Run(tuple(words))


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
