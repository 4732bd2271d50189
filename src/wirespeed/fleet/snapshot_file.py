# SPDX-License-Identifier: Apache-2.0
"""How is a HostSnapshot written to and read from a JSON file (schemas/snapshot.schema.json)?

It is what a target leaves for its controller to fetch.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from wirespeed.fleet.hardware import hardware_digest
from wirespeed.host.file import inconsistencies
from wirespeed.model.document import read_document
from wirespeed.model.errors import faulty_file, key_fault
from wirespeed.model.finding import Status
from wirespeed.model.snapshot import HostSnapshot

SCHEMA_VERSION = "1.0"
_MAJOR = SCHEMA_VERSION.partition(".")[0]
_AGAIN = "Write it with `wirespeed fleet snapshot --output FILE` on the host."


class _Document(BaseModel):
    """The root model: its `extra="forbid"` also applies to the dataclasses below it."""

    model_config = ConfigDict(extra="forbid")

    snapshot: HostSnapshot


@cache
def _adapter() -> TypeAdapter[HostSnapshot]:
    return TypeAdapter(HostSnapshot)


def document(snapshot: HostSnapshot) -> dict[str, Any]:
    """The JSON document."""
    return {
        "schema_version": SCHEMA_VERSION,
        **_adapter().dump_python(snapshot, mode="json"),
    }


def parse(text: str, where: str) -> HostSnapshot:
    """The snapshot in a JSON document; `where` names it in errors. Raises BadInput."""
    what = f"snapshot {where}"
    raw = read_document(text, what, _MAJOR, _AGAIN)
    try:
        found = _Document.model_validate_json(json.dumps({"snapshot": raw}), strict=True).snapshot
    except ValidationError as fault:
        faults = [key_fault(e["loc"][1:], e["type"], e["msg"]) for e in fault.errors()]
        raise faulty_file(what, faults, _AGAIN) from None
    faults = inconsistencies(found.facts)
    if found.hardware != hardware_digest(found.facts):
        faults.append(f"hardware: {found.hardware} is not the digest of its facts")
    if not found.member.name:
        faults.append("member.name: is empty")
    if faults:
        raise faulty_file(what, faults, _AGAIN)
    return found


def summary(snapshot: HostSnapshot, path: str | None = None) -> dict[str, Any]:
    """What a controller is told at once: a few hundred bytes, whatever the host has."""
    audit = snapshot.audit
    counts = {} if audit is None else {str(s): len(audit.with_status(s)) for s in Status}
    return {
        "schema_version": SCHEMA_VERSION,
        "name": snapshot.member.name,
        "hardware": snapshot.hardware,
        "verdict": verdict(snapshot),
        "counts": counts,
        "wirespeed": snapshot.versions.get("wirespeed", ""),
        "file": path,
    }


def verdict(snapshot: HostSnapshot) -> str:
    """The worst severity that failed, "passed", or "not audited"."""
    if snapshot.audit is None:
        return "not audited"
    return str(snapshot.audit.worst) if snapshot.audit.worst else "passed"


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    schema = _adapter().json_schema(mode="serialization")
    for definition in (schema, *schema["$defs"].values()):
        if definition.get("type") == "object" and "properties" in definition:
            definition["additionalProperties"] = False
            definition["required"] = sorted(definition["properties"])
    version = {"type": "string", "pattern": rf"^{_MAJOR}\.[0-9]+$"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:wirespeed:snapshot:{_MAJOR}",
        **schema,
        "title": "wirespeed host snapshot",
        "properties": {"schema_version": version, **schema["properties"]},
        "required": sorted(["schema_version", *schema["required"]]),
    }
