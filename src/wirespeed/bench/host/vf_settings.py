# SPDX-License-Identifier: Apache-2.0
"""Describe the settings of a virtual function, with the names of ip-link(8). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_ON_OFF = {True: "on", False: "off"}


@dataclass(frozen=True, slots=True)
class VfSettings:
    """Settings of a virtual function."""

    mac: str
    vlan: int = 0
    """VLAN ID; 0 for none."""
    qos: int = 0
    """Priority in the VLAN tag."""
    spoofchk: bool = True
    trust: bool = False
    max_tx_rate_mbps: int = 0
    """Rate limit in Mbit/s; 0 for none."""

    def words_from(self, now: VfSettings) -> Iterator[tuple[str, ...]]:
        """Yield the arguments of ip-link(8) after "vf N" that change `now` to these settings.

        Only differences: a driver rejects a setting that it lacks.
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
    """Parse an entry of vfinfo_list of `ip -json -details link show`."""
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
