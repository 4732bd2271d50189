# SPDX-License-Identifier: Apache-2.0
"""Write, read, and describe one type of wirespeed's JSON documents.

A new key raises the minor version, a changed or removed one the major version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import ConfigDict, ValidationError, create_model

from wirespeed.document.other_kind import other_kind
from wirespeed.document.validation import UNKNOWN, dotted, faults_of
from wirespeed.document.version import read_document
from wirespeed.model.errors import BadInput, faulty_file

T = TypeVar("T")


def _nothing(_: object) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class DocumentKind(Generic[T]):
    """The documents of one dataclass."""

    type: type[T]
    name: str
    """Name of the schema, schemas/NAME.schema.json."""
    title: str
    """Title of the schema."""
    version: str
    called: str
    """Name of such a document in errors, e.g. "host file"."""
    next_step: str
    """Advice on how to get a valid one."""
    check: Callable[[T], Iterable[str]] = _nothing
    """Function that lists contradictions in a value whose types are right."""

    @cached_property
    def _root(self) -> Any:
        """Model of the document: its `extra="forbid"` also applies to the dataclasses below it."""
        config = ConfigDict(extra="forbid")
        return create_model("_Root", __config__=config, body=(self.type, ...))

    @cached_property
    def _keys(self) -> tuple[list[str], list[str]]:
        """Required keys, and all keys."""
        known = fields(self.type)  # type: ignore[arg-type]
        needed = [key for key in known if key.default is MISSING and key.default_factory is MISSING]
        return [key.name for key in needed], [key.name for key in known]

    def document(self, value: T) -> dict[str, Any]:
        """Return the value as JSON types."""
        body = self._root.model_construct(body=value).model_dump(mode="json")["body"]
        return {"schema_version": self.version, **body}

    def parse(self, text: str, where: str) -> T:
        """Return the value in a JSON text; `where` names it in errors.

        Raises BadInput with every error: unknown keys and wrong types; without these, those of the
        check.
        """
        what = f"{self.called} {where}"
        keys = read_document(text, what, self.version, self.next_step)
        if why := other_kind(keys, *self._keys):
            raise BadInput(f"{what}: {why}", self.next_step)
        try:
            # Strict as JSON: lists become tuples and texts enums, but "4" is no number.
            value: T = self._root.model_validate_json(json.dumps({"body": keys}), strict=True).body
            faults = list(self.check(value))
        except ValidationError as error:
            faults = faults_of(error, outer=1)
        if faults:
            raise faulty_file(what, faults, self.next_step)
        return value

    def parse_known(self, text: str, where: str) -> tuple[T, tuple[str, ...]]:
        """Return the value in a document of this or a later minor version, and its unknown keys.

        The unknown keys are dotted, and excluded from the value. Raises BadInput as `parse` does.
        """
        what = f"{self.called} {where}"
        keys = read_document(text, what, self.version, self.next_step)
        unknown: list[tuple[int | str, ...]] = []
        while found := self._unknown(keys):
            unknown += found
            for *outer, key in found:
                within: Any = keys
                for step in outer:
                    within = within[step]
                del within[key]
        return self.parse(json.dumps({"schema_version": self.version, **keys}), where), tuple(
            map(dotted, unknown)
        )

    def _unknown(self, keys: dict[str, Any]) -> list[tuple[int | str, ...]]:
        """Return the locations of keys that this version does not know."""
        try:
            self._root.model_validate_json(json.dumps({"body": keys}), strict=True)
        except ValidationError as error:
            return [each["loc"][1:] for each in error.errors() if each["type"] in UNKNOWN]
        return []

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the documents that `parse` reads."""
        # Here, as no command that reads documents should load what writes schemas.
        from wirespeed.document.schema import Untitled, with_forms

        definitions = with_forms(self._root.model_json_schema(schema_generator=Untitled)["$defs"])
        body = definitions.pop(self.type.__name__)
        major = self.version.partition(".")[0]
        version = {"type": "string", "pattern": rf"^{major}\.[0-9]+$"}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:wirespeed:{self.name}:{major}",
            **body,
            "title": self.title,
            "properties": {"schema_version": version, **body["properties"]},
            "required": ["schema_version", *body["required"]],
            "$defs": definitions,
        }
