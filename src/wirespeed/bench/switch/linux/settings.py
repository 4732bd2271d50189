# SPDX-License-Identifier: Apache-2.0
"""Read what the kernel forwards by: routes, neighbours, forwarding switches, links and bridges.

packet_filter.py has what it filters by. One program reads all of a network namespace, and another
the addresses of its bridges; both answer in JSON (ip(8), bridge(8)).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import Runner

_ROUTES = "route show table all\n"
# Routes that the kernel or the bench made one by one, without those of a generated table.
_OWN_ROUTES = "route show table all proto kernel\nroute show table all proto boot\n"
_REST = "neighbour show nud permanent\nnetconf show\nlink show\n"
_LINK = ("mtu", "qdisc", "operstate", "master", "address")
# Of a bridge and of its ports; their timers count.
_BRIDGE = ("stp_state", "vlan_filtering", "mcast_snooping", "nf_call_iptables", "ageing_time")
_PORT = ("state", "learning", "flood", "mcast_flood", "bcast_flood", "isolated", "neigh_suppress")


def settings(
    runner: Runner, namespace: str, *, bridged: bool, generated: bool = False
) -> dict[str, str]:
    """Return all that somebody may set in a namespace, by names for people. bridged: whether
    bridges forward there. generated: whether there is a generated routing table, which is left
    out: reading a full table takes many seconds."""
    words = ["ip", "-n", namespace, "-json", "-details", "-batch", "-"]
    batch = (_OWN_ROUTES if generated else _ROUTES) + _REST
    *routes, neighbours, switches, links = _arrays(runner.run(words, stdin=batch).stdout)
    found = [*_routes(chain.from_iterable(routes)), *_neighbours(neighbours)]
    found += [*_switches(switches), *_links(links)]
    if bridged:
        [entries] = _arrays(runner.run(["bridge", "-n", namespace, "-json", "fdb"]).stdout)
        found += _addresses(entries)
    merged: dict[str, str] = {}
    for name, value in found:
        merged[name] = f"{merged[name]}; {value}" if name in merged else value
    return merged


def _arrays(text: str) -> list[list[dict[str, Any]]]:
    """Return the answers to commands, an array and a line each; some have empty objects."""
    found = (load_json(line) for line in text.splitlines() if line.strip())
    return [[row for row in array if row] for array in found]


def _routes(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for row in rows:
        words = [row.get("type", "")]
        for key in ("via", "gateway", "dev", "table", "metric"):
            if key in row:
                words += [key, str(row[key])]
        yield f"route {row['dst']}", " ".join(words)


def _neighbours(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for row in rows:
        yield f"neighbour {row['dst']} on {row['dev']}", str(row.get("lladdr", "none"))


def _switches(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield forwarding and the filters of each interface and of all, IPv4 and IPv6."""
    for row in rows:
        where = f"{row.get('family', '')} {row.get('interface', 'all')}"
        for key in ("forwarding", "rp_filter", "proxy_neigh"):
            if key in row:
                yield f"{where}, {key}", str(row[key])


def _links(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for row in rows:
        info, name = row.get("linkinfo", {}), f"link {row['ifname']}"
        yield f"{name}, flags", " ".join(sorted(row["flags"]))
        bridge, port = info.get("info_data", {}), info.get("info_slave_data", {})
        for keys, part in ((_LINK, row), (_BRIDGE, bridge), (_PORT, port)):
            yield from ((f"{name}, {key}", str(part[key])) for key in keys if key in part)
        if "xdp" in row:
            yield f"{name}, XDP program", str(row["xdp"].get("prog", {}).get("id", "attached"))


def _addresses(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield entries that somebody made; those that a bridge learned come and go."""
    for row in rows:
        if row.get("state") in ("static", "permanent") and "self" not in row["flags"]:
            yield f"address {row['mac']} of {row.get('master', '')}", str(row["ifname"])
