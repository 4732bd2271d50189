# SPDX-License-Identifier: Apache-2.0
"""Define each form of a text once in a JSON Schema, and no titles that repeat a name."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from wirespeed.model.input import text
from wirespeed.model.input.text import Form

_FORMS = {
    (f"^(?:{form.pattern})$", form.longest): form
    for form in reversed(list(vars(text).values()))
    if isinstance(form, Form)
}


class Untitled(GenerateJsonSchema):
    """A generator that gives fields no title, which would be their name in other letters."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def with_forms(definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the definitions with a reference wherever one had a form of a text.

    The forms that they refer to are added by name.
    """
    used: dict[str, Form] = {}
    found = {name: _referring(each, used) for name, each in definitions.items()}
    for each in found.values():
        each.pop("title", None)
    if clash := found.keys() & used.keys():
        raise ValueError(f"{', '.join(sorted(clash))}: a type has the name of a form of a text")
    return found | {name: _definition(form) for name, form in sorted(used.items())}


def _referring(node: Any, used: dict[str, Form]) -> Any:
    if isinstance(node, list):
        return [_referring(each, used) for each in node]
    if not isinstance(node, dict):
        return node
    if node.get("type") == "string":
        form = _FORMS.get((node.get("pattern", ""), node.get("maxLength", 0)))
        if form is not None:
            used[form.name] = form
            rest = {k: v for k, v in node.items() if k not in ("type", "pattern", "maxLength")}
            return {"$ref": f"#/$defs/{form.name}", **rest}
    return {key: _referring(value, used) for key, value in node.items()}


def _definition(form: Form) -> dict[str, Any]:
    return {
        "description": f"{form.wanted[:1].upper()}{form.wanted[1:]}.",
        "type": "string",
        "pattern": f"^(?:{form.pattern})$",
        "maxLength": form.longest,
    }
