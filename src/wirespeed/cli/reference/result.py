# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/result.md: every object of the result document, from its JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from wirespeed.cli.reference.markdown import MADE, table
from wirespeed.study.shipped import shipped_directory


def result_page() -> str:
    """Return every object of the result document."""
    path = shipped_directory().parent / "schemas" / "result.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    lines = ["# Result\n", MADE, f"{schema['description']}\n"]
    lines += ["The JSON Schema is `schemas/result.schema.json`.\n"]
    lines += _object("The document", schema)
    for name, definition in schema["$defs"].items():
        described = next(
            (d for d in (definition, *definition.get("oneOf", ())) if "properties" in d), None
        )
        if described is not None:
            lines += _object(name, {"description": definition.get("description", ""), **described})
    return "\n".join(lines).rstrip() + "\n"


def _object(name: str, definition: dict[str, Any]) -> Iterator[str]:
    yield f"## {name.replace('_', ' ')}\n"
    if name != "The document" and definition.get("description"):
        yield f"{definition['description']}\n"
    rows = [
        (f"`{key}`", _json_type(value), value.get("description", ""))
        for key, value in definition["properties"].items()
    ]
    yield from table(("field", "type", "meaning"), rows)


def _json_type(value: dict[str, Any]) -> str:
    """Return the type in a few words; references name their section."""
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2].replace("_", " ")
    if "enum" in value:
        return ", ".join(f"`{item}`" for item in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if "oneOf" in value:
        return " or ".join(_json_type(option) for option in value["oneOf"])
    if value.get("type") == "array":
        return f"list of {_json_type(value.get('items', {}))}"
    kind = value.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
