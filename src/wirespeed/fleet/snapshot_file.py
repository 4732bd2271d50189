# SPDX-License-Identifier: Apache-2.0
"""Read and write a HostSnapshot as a JSON file, and summarise it.

A host leaves the file for its controller to fetch.
"""

from __future__ import annotations

from typing import Any

from wirespeed.document.kind import DocumentKind
from wirespeed.fleet.hardware import hardware_digest
from wirespeed.host.file import inconsistencies
from wirespeed.model.host.finding import Status
from wirespeed.model.host.snapshot import HostSnapshot


def _faults(found: HostSnapshot) -> list[str]:
    faults = inconsistencies(found.facts)
    if found.hardware != hardware_digest(found.facts):
        faults.append(f"hardware: {found.hardware} is not the digest of its facts")
    if not found.member.name:
        faults.append("member.name: is empty")
    return faults


SNAPSHOT_FILE = DocumentKind(
    HostSnapshot,
    name="snapshot",
    title="wirespeed host snapshot",
    version="1.1",
    called="snapshot",
    next_step="Write it with `wirespeed fleet snapshot --output FILE` on the host.",
    check=_faults,
)


def summary(snapshot: HostSnapshot, path: str | None = None) -> dict[str, Any]:
    """Return the summary that a controller gets at once: a few hundred bytes for any host."""
    audit = snapshot.audit
    counts = {} if audit is None else {str(s): len(audit.with_status(s)) for s in Status}
    return {
        "schema_version": SNAPSHOT_FILE.version,
        "name": snapshot.member.name,
        "hardware": snapshot.hardware,
        "verdict": verdict(snapshot),
        "counts": counts,
        "wirespeed": snapshot.versions.get("wirespeed", ""),
        "file": path,
    }


def verdict(snapshot: HostSnapshot) -> str:
    """Return the worst severity that failed, "passed", or "not audited"."""
    if snapshot.audit is None:
        return "not audited"
    return str(snapshot.audit.worst) if snapshot.audit.worst else "passed"
