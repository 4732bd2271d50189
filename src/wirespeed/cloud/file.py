# SPDX-License-Identifier: Apache-2.0
"""How is a cloud written to and read from a JSON file (schemas/cloud.schema.json)?

A new field raises the minor version, a changed or removed one the major version.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from wirespeed.model.cloud import Cloud
from wirespeed.model.document import read_document
from wirespeed.model.errors import faulty_file, key_fault

SCHEMA_VERSION = "1.0"
_MAJOR = SCHEMA_VERSION.partition(".")[0]
_AGAIN = "Write it with `wirespeed inspect --openstack CLOUD --json > CLOUD.json`."


class _Document(BaseModel):
    """The root model: its `extra="forbid"` also applies to the dataclasses below it."""

    model_config = ConfigDict(extra="forbid")

    cloud: Cloud


@cache
def _adapter() -> TypeAdapter[Cloud]:
    return TypeAdapter(Cloud)


def document(cloud: Cloud) -> dict[str, Any]:
    """The JSON document, as `wirespeed inspect --openstack CLOUD --json` prints it."""
    return {"schema_version": SCHEMA_VERSION, **_adapter().dump_python(cloud, mode="json")}


def parse(text: str, where: str) -> Cloud:
    """The cloud in a JSON document; `where` names it in errors. Raises BadInput."""
    raw = read_document(text, f"cloud file {where}", _MAJOR, _AGAIN)
    try:
        return _Document.model_validate_json(json.dumps({"cloud": raw}), strict=True).cloud
    except ValidationError as fault:
        faults = [key_fault(e["loc"][1:], e["type"], e["msg"]) for e in fault.errors()]
        raise faulty_file(f"cloud file {where}", faults, _AGAIN) from None


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    schema = _Document.model_json_schema()
    definitions = schema["$defs"]
    cloud = definitions.pop("Cloud")
    version = {"type": "string", "pattern": rf"^{_MAJOR}\.[0-9]+$"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:wirespeed:cloud:{_MAJOR}",
        **cloud,
        "title": "an OpenStack cloud as its API tells it",
        "properties": {"schema_version": version, **cloud["properties"]},
        "required": ["schema_version", *cloud["required"]],
        "additionalProperties": False,
        "$defs": definitions,
    }
