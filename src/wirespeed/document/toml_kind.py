# SPDX-License-Identifier: Apache-2.0
"""Read one type of wirespeed's TOML files, and report all errors of a file at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from wirespeed.document.validation import fault_of
from wirespeed.model.errors import BadInput, faulty_file
from wirespeed.model.input.bounded import load_toml
from wirespeed.model.input.fault import Fault

T = TypeVar("T")


@dataclass(frozen=True)
class TomlKind(Generic[T]):
    """The TOML files of one model."""

    validate: Callable[[Any], T]
    """Validator of a file's tables, e.g. a model's model_validate; raises ValidationError."""
    next_step: str = ""
    """Advice on how to get a valid file; empty if the caller reports the errors."""
    fault: Callable[[ErrorDetails], Fault] = fault_of
    """Translation of one of pydantic's errors."""

    def tables(self, text: str, where: str) -> dict[str, Any]:
        """Return the tables of a TOML text; `where` names it in errors. Raises BadInput."""
        try:
            return load_toml(text)
        except ValueError as error:
            raise BadInput(f"{where}: not TOML: {error}", self.next_step) from error

    def read(self, tables: Any, found: list[Fault]) -> T | None:
        """Return the value of the tables, or None with the errors added to `found`."""
        try:
            return self.validate(tables)
        except ValidationError as error:
            found += [self.fault(detail) for detail in error.errors(include_url=False)]
            return None

    def parse(self, tables: Any, where: str) -> T:
        """Return the value of the tables. Raises BadInput with all errors."""
        found: list[Fault] = []
        value = self.read(tables, found)
        if value is None:
            raise faulty_file(where, [str(fault) for fault in found], self.next_step)
        return value
