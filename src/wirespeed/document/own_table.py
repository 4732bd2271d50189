# SPDX-License-Identifier: Apache-2.0
"""Validate the table of keys that one type of switch has and others do not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from pydantic import ConfigDict, ValidationError, create_model

from wirespeed.document.validation import dotted, fault_of
from wirespeed.model.input.fault import Fault
from wirespeed.model.input.own_key import OwnKey


def read_own_table(
    where: str, kind: type[Any], written: object, unknown_key: Callable[[str], str]
) -> tuple[tuple[OwnKey, ...], list[Fault]]:
    """Return each key of the dataclass `kind`, with its default if it is not written; and faults.

    where: dotted name of the table. unknown_key: text of the error for a key that does not exist.
    """
    above, _, table = where.rpartition(".")
    model = _model(table, kind)  # type: ignore[arg-type]
    try:
        read = model.model_validate({table: written}).model_dump(mode="json")
    except ValidationError as error:
        faults = []
        for detail in error.errors(include_url=False):
            key = f"{above}.{dotted(detail['loc'])}"
            found = fault_of(detail, unknown_key(key))
            faults.append(Fault(key, found.value, found.allowed))
        return (), faults
    return tuple(read[table].items()), []


@cache
def _model(table: str, kind: type[Any]) -> Any:
    tables: dict[str, Any] = {table: (kind, ...)}
    config = ConfigDict(extra="forbid", allow_inf_nan=False)
    return create_model("_Own", __config__=config, **tables)
