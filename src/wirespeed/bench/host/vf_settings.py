# SPDX-License-Identifier: Apache-2.0
"""How is a virtual function set by its physical function, in the words of ip-link(8)? Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_ON_OFF = {True: "on", False: "off"}


@dataclass(frozen=True, slots=True)
class VfSettings:
    """vlan: 0 for none. qos: the priority in that tag. max_tx_rate_mbps: 0 for no limit."""

    mac: str
    vlan: int = 0
    qos: int = 0
    spoofchk: bool = True
    trust: bool = False
    max_tx_rate_mbps: int = 0

    def words_from(self, now: VfSettings) -> Iterator[tuple[str, ...]]:
        """What ip-link(8) is told after "vf N", a command each, to get here from `now`.

        A driver that lacks a setting refuses to be told of it, so only differences are told.
        """
        if self.mac != now.mac:
            yield "mac", self.mac
        if (self.vlan, self.qos) != (now.vlan, now.qos):
            yield "vlan", str(self.vlan), "qos", str(self.qos)
        if self.spoofchk != now.spoofchk:
            yield "spoofchk", _ON_OFF[self.spoofchk]
        if self.trust != now.trust:
            yield "trust", _ON_OFF[self.trust]
        if self.max_tx_rate_mbps != now.max_tx_rate_mbps:
            yield "max_tx_rate", str(self.max_tx_rate_mbps)


def parse_vf(seen: Mapping[str, Any]) -> VfSettings:
    """An entry of vfinfo_list of `ip -json -details link show`."""
    tags = [tag for tag in seen.get("vlan_list", ()) if tag]
    tag = tags[0] if tags else {}
    return VfSettings(
        mac=seen.get("address", "00:00:00:00:00:00"),
        vlan=int(tag.get("vlan", 0)),
        qos=int(tag.get("qos", 0)),
        spoofchk=bool(seen.get("spoofchk", False)),
        trust=bool(seen.get("trust", False)),
        max_tx_rate_mbps=int(seen.get("rate", {}).get("max_tx", 0)),
    )
