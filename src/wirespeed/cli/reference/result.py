# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/result.md: every object of the result document, from its JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wirespeed.cli.reference.markdown import MADE, table
from wirespeed.report.json.schema import result_schema
from wirespeed.report.text.limit_words import LIMIT_WORDS


def result_page() -> str:
    """Return every object of the result document."""
    schema = result_schema()
    lines = ["# Result\n", MADE, f"{schema['description']}\n"]
    lines += ["The JSON Schema is `schemas/result.schema.json`.\n"]
    lines += _object("The document", schema)
    for name, definition in schema["$defs"].items():
        lines += _object(name, definition)
        if name == "explanation":
            lines += _limits()
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


def _limits() -> Iterator[str]:
    yield (
        "Values of `limit`, and what tables call them. With `_harmless` at its end, it explains no "
        "loss. Of TCP, it is the server's verdict. Further ones may be added.\n"
    )
    yield from table(("limit", "in tables"), [(f"`{k}`", v) for k, v in LIMIT_WORDS.items()])


def _json_type(value: dict[str, Any]) -> str:
    """Return the type in a few words; references name their section."""
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2].replace("_", " ")
    if "enum" in value:
        return ", ".join(f"`{item}`" for item in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if "anyOf" in value:
        return " or ".join(_json_type(option) for option in value["anyOf"])
    if value.get("type") == "array":
        return f"list of {_json_type(value.get('items', {}))}"
    kind = value.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
