# SPDX-License-Identifier: Apache-2.0
"""Read a point's workload back from records of any version."""

from __future__ import annotations

from typing import Any

from wirespeed.model.study.spec import Frames, TcpStreams, Workload
from wirespeed.store.codec import decode

# Former notation of sut.vnf.placement.
_OWN_PROCESS = {True: "process", False: "shared", None: None}

# Former notation of sut.vnf.pages and .threads: S1's cumulative steps.
_TUNED = {
    "none": {"pages": "4K", "threads": "anywhere"},
    "huge-pages": {"pages": "huge", "threads": "anywhere"},
    "node": {"pages": "huge", "threads": "node"},
    "cores": {"pages": "huge", "threads": "pinned"},
}


def decode_workload(record: dict[str, Any]) -> Workload:
    """Return the workload of a record.

    A record of TCP traffic has a table of its settings. Until version 3, each record had all
    tables.
    """
    sut = record.get("sut", {})
    if record.get("tcp") is not None:
        vswitch = record.get("vswitch") or sut.get("vswitch", {})
        rest = {key: record[key] for key in ("guest", "ports", "sriov") if record.get(key)}
        return decode(TcpStreams, {"tcp": record["tcp"], "vswitch": vswitch, **rest})
    vnf = sut.get("vnf", {})
    if "tuning" in vnf:
        vnf = vnf | _TUNED[vnf["tuning"]]
        sut = sut | {"vnf": vnf}
        record = record | {"sut": sut}
    if "own_process" in vnf:
        placed = vnf | {"placement": _OWN_PROCESS[vnf["own_process"]]}
        record = record | {"sut": sut | {"vnf": placed}}
    return decode(Frames, record)
