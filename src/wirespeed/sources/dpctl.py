# SPDX-License-Identifier: Apache-2.0
"""Parse `dpctl/show -s`, `memory/show`, `upcall/show` and `netdev-dpdk/get-mempool-info`."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PORT = re.compile(r"^  port \d+: (?P<name>\S+) \(.*\)$(?P<rest>(?:\n    .*)*)", re.MULTILINE)
_SIDE = re.compile(r"\b(RX|TX) (.*)")
_PAIR = re.compile(r"([a-z]+):(\d+)")
_LOOKUPS = re.compile(r"^  lookups: hit:(\d+) missed:(\d+) lost:(\d+)", re.MULTILINE)
_USE = re.compile(r"([A-Za-z][\w -]*?):(\d+)(?:\s|$)")
_FLOWS = re.compile(r"flows\s*: \(current (\d+)\) \(avg \d+\) \(max \d+\) \(limit (\d+)\)")
_DUMP = re.compile(r"dump duration\s*: (\d+)ms")
_POOL = re.compile(r"^mempool <(?P<name>[^>]+)>@\S+(?P<rest>(?:\n\s+.*)*)", re.MULTILINE)
_FIELD = re.compile(r"^\s+(\w+)=(\d+)$", re.MULTILINE)


def ports(shown: str) -> Mapping[str, Mapping[tuple[str, str], int]]:
    """Return counters of each port by direction and name, e.g. ("rx", "packets").

    A counter that the driver does not have ("?") is absent.
    """
    return {
        port["name"]: {
            (side.lower(), name): int(count)
            for side, words in _SIDE.findall(port["rest"].replace("  TX", "\nTX"))
            for name, count in _PAIR.findall(words)
        }
        for port in _PORT.finditer(shown)
    }


def lookups(shown: str) -> tuple[int, int, int]:
    """Return hits, misses and lost upcalls of all datapaths."""
    found = [tuple(map(int, each)) for each in _LOOKUPS.findall(shown)]
    hit, missed, lost = (sum(column) for column in zip(*found, strict=True)) if found else (0, 0, 0)
    return hit, missed, lost


def memory_use(shown: str) -> Mapping[str, int]:
    """Return the counts of memory/show by name, e.g. "udpif keys"."""
    return {name.strip(): int(count) for name, count in _USE.findall(shown)}


def upcall_state(shown: str) -> Mapping[str, int]:
    """Return flows, their limit, and the duration of the last dump in ms, of upcall/show."""
    flows, dump = _FLOWS.findall(shown), _DUMP.findall(shown)
    found = {}
    if flows:
        found["flows"] = sum(int(current) for current, _ in flows)
        found["limit"] = sum(int(limit) for _, limit in flows)
    if dump:
        found["dump_ms"] = max(map(int, dump))
    return found


def mempools(shown: str) -> Mapping[str, Mapping[str, int]]:
    """Return size and free objects of each mempool of get-mempool-info (rte_mempool_dump)."""
    found: dict[str, Mapping[str, int]] = {}
    for pool in _POOL.finditer(shown):
        fields = {name: int(count) for name, count in _FIELD.findall(pool["rest"])}
        free = fields.get("common_pool_count", 0) + fields.get("total_cache_count", 0)
        found[pool["name"]] = {"size": fields.get("size", 0), "free": free}
    return found
