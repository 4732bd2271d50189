# SPDX-License-Identifier: Apache-2.0
"""Write an audit as one JSON document (schemas/audit.schema.json)."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from wirespeed.model.host.finding import AuditReport, Status

SCHEMA_VERSION = "1.0"
_MAJOR = SCHEMA_VERSION.partition(".")[0]


def document(report: AuditReport) -> dict[str, Any]:
    """Return the report as JSON data, with the number of findings of each status."""
    return {
        "schema_version": SCHEMA_VERSION,
        "counts": {str(status): len(report.with_status(status)) for status in Status},
        **TypeAdapter(AuditReport).dump_python(report, mode="json"),
    }


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the document."""
    # Here, as an audit should not load what writes schemas.
    from wirespeed.document.schema import Untitled, with_forms

    made = TypeAdapter(AuditReport).json_schema(mode="serialization", schema_generator=Untitled)
    definitions = with_forms({**made.pop("$defs"), AuditReport.__name__: made})
    schema = definitions.pop(AuditReport.__name__)
    for definition in (schema, *definitions.values()):
        if definition.get("type") == "object":
            definition["additionalProperties"] = False
            definition["required"] = sorted(definition["properties"])
    counts = {
        "type": "object",
        "description": "How many findings have each status.",
        "properties": {str(status): {"type": "integer", "minimum": 0} for status in Status},
        "required": sorted(str(status) for status in Status),
        "additionalProperties": False,
    }
    version = {"type": "string", "pattern": rf"^{_MAJOR}\.[0-9]+$"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:wirespeed:audit:{_MAJOR}",
        **schema,
        "title": "wirespeed audit",
        "properties": {"schema_version": version, "counts": counts, **schema["properties"]},
        "required": sorted(["schema_version", "counts", *schema["properties"]]),
        "$defs": definitions,
    }
