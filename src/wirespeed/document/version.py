# SPDX-License-Identifier: Apache-2.0
"""Check that a text is a JSON document of a schema version that this wirespeed reads."""

from __future__ import annotations

from typing import Any

from wirespeed.model.errors import BadInput
from wirespeed.model.input.bounded import load_json
from wirespeed.model.input.fault import show


def read_document(text: str, what: str, version: str, next_step: str) -> dict[str, Any]:
    """Return the document's keys without schema_version.

    The major part of schema_version must be that of `version`. `what` names the document in errors.
    Raises BadInput.
    """
    major = version.partition(".")[0]
    try:
        raw = load_json(text)
    except ValueError as fault:
        raise BadInput(f"{what} is not JSON: {fault}", next_step) from None
    if not isinstance(raw, dict):
        raise BadInput(f"{what} holds no JSON object", next_step)
    found = raw.pop("schema_version", None)
    if not isinstance(found, str) or found.partition(".")[0] != major:
        told = f"schema_version {show(found)}" if found is not None else "no schema_version"
        raise BadInput(f"{what} has {told}; this wirespeed reads {major}.x", next_step)
    return raw
