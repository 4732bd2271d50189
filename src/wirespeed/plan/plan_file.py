# SPDX-License-Identifier: Apache-2.0
"""How is a plan written to JSON and read back (schemas/plan.schema.json)?

The bytes depend on the plan alone. A changed or removed field raises the major version, a new one
the minor.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from wirespeed.model.document import read_document
from wirespeed.model.errors import faulty_file, key_fault
from wirespeed.model.plan import Plan

SCHEMA_VERSION = "1.2"
_MAJOR = SCHEMA_VERSION.partition(".")[0]
_HELP = "Write it with `wirespeed plan make WORKLOAD.toml --host HOST.json -o PLAN.json`."


class _Document(BaseModel):
    """The root model: its `extra="forbid"` also applies to the dataclasses below it."""

    model_config = ConfigDict(extra="forbid")

    plan: Plan


def write_plan(plan: Plan) -> str:
    """The plan as JSON text."""
    body = TypeAdapter(Plan).dump_python(plan, mode="json")
    return json.dumps({"schema_version": SCHEMA_VERSION, **body}, indent=1) + "\n"


def parse_plan(text: str, source: str) -> Plan:
    """The plan in JSON text; `source` names it in errors. Raises BadInput."""
    raw = read_document(text, f"plan file {source}", _MAJOR, _HELP)
    try:
        return _Document.model_validate_json(json.dumps({"plan": raw})).plan
    except ValidationError as error:
        faults = [key_fault(e["loc"][1:], e["type"], e["msg"]) for e in error.errors()]
        raise faulty_file(f"plan file {source}", faults, _HELP) from None


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    schema = _Document.model_json_schema()
    definitions = schema["$defs"]
    plan = definitions.pop("Plan")
    version = {"type": "string", "pattern": rf"^{_MAJOR}\.[0-9]+$"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:wirespeed:plan:{_MAJOR}",
        **plan,
        "title": "wirespeed plan",
        "properties": {"schema_version": version, **plan["properties"]},
        "required": ["schema_version", *plan["required"]],
        "additionalProperties": False,
        "$defs": definitions,
    }
