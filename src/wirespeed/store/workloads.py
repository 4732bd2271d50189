# SPDX-License-Identifier: Apache-2.0
"""Read a point's workload back from records of any version."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from wirespeed.model.study.spec import BY_TABLE, Frames, Workload
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

    A record of a workload other than frames has a table of its settings. Until version 3, each
    record had all tables.
    """
    sut = record.get("sut", {})
    for name, kind in BY_TABLE.items():
        if record.get(name) is not None:
            own = {each.name for each in fields(kind)}
            found = {key: value for key, value in record.items() if key in own and value}
            if "vswitch" in own:
                found = {"vswitch": sut.get("vswitch", {}), **found}
            return decode(kind, found)
    vnf = sut.get("vnf", {})
    if "tuning" in vnf:
        vnf = vnf | _TUNED[vnf["tuning"]]
        sut = sut | {"vnf": vnf}
        record = record | {"sut": sut}
    if "own_process" in vnf:
        placed = vnf | {"placement": _OWN_PROCESS[vnf["own_process"]]}
        record = record | {"sut": sut | {"vnf": placed}}
    return decode(Frames, record)
