# SPDX-License-Identifier: Apache-2.0
"""Make the JSON Schemas of written documents from their types."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ConfigDict, create_model

from wirespeed.report.json.document import SCHEMA_VERSION
from wirespeed.report.json.explain_document import EXPLANATION_VERSION
from wirespeed.report.json.explain_types import ExplanationDocument
from wirespeed.report.json.tune_document import TUNE_VERSION
from wirespeed.report.json.tune_types import TuneDocument
from wirespeed.report.json.types import RunDocument


def result_schema() -> dict[str, Any]:
    """Return schemas/result.schema.json."""
    return document_schema(RunDocument, "result", SCHEMA_VERSION)


def explanation_schema() -> dict[str, Any]:
    """Return schemas/explanation.schema.json."""
    return document_schema(ExplanationDocument, "explanation", EXPLANATION_VERSION)


def tune_schema() -> dict[str, Any]:
    """Return schemas/tune.schema.json."""
    return document_schema(TuneDocument, "tune", TUNE_VERSION)


def document_schema(kind: type, name: str, version: str) -> dict[str, Any]:
    """Return the JSON Schema of a document with the type `kind`, which has `schema_version`."""
    config = ConfigDict(extra="forbid", use_attribute_docstrings=True)
    fields: dict[str, Any] = {"body": (kind, ...)}
    root = create_model("_Root", __config__=config, **fields)
    definitions = root.model_json_schema(mode="serialization")["$defs"]
    enums = {name: each["enum"] for name, each in definitions.items() if "enum" in each}
    names = [name for name in definitions if name not in enums and name != kind.__name__]
    major = version.partition(".")[0]
    body = _plain(definitions[kind.__name__], enums)
    body["properties"]["schema_version"]["pattern"] = rf"^{major}\.[0-9]+$"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:wirespeed:{name}:{major}",
        "title": f"wirespeed {name}",
        **body,
        "$defs": {_snake(name): _plain(definitions[name], enums) for name in names},
    }


def _plain(schema: Any, enums: dict[str, list[str]]) -> Any:
    """Return the schema without titles and defaults, with enums in place and null as a type."""
    if isinstance(schema, list):
        return [_plain(each, enums) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if (name := schema.get("$ref", "").rpartition("/")[2]) in enums:
        rest = {key: value for key, value in schema.items() if key == "description"}
        return {**_folded(rest), "enum": enums[name]}
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            found[key] = {name: _plain(each, enums) for name, each in value.items()}
        elif key == "$ref":
            found[key] = f"#/$defs/{_snake(name)}"
        elif key not in ("title", "default"):
            found[key] = _plain(value, enums)
    if "properties" in found:
        found["required"] = list(found["properties"])  # a document has every key
    options = found.get("anyOf", [])
    types = [option["type"] for option in options if set(option) == {"type"}]
    if options and len(types) == len(options):
        del found["anyOf"]
        found["type"] = types
    return _folded(found)


def _folded(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with its description on one line."""
    if isinstance(schema.get("description"), str):
        return {**schema, "description": " ".join(schema["description"].split())}
    return schema


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
