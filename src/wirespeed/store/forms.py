# SPDX-License-Identifier: Apache-2.0
"""Read the form of a study from the study file that is stored with its runs."""

from __future__ import annotations

from typing import Any

from wirespeed.model.study.design import Design, Factor, Published, Quick, StudyForm
from wirespeed.model.study.study import flat
from wirespeed.store.codec import decode

# Tables of [quick] whose keys may also be written as tables.
_BY_KEY = ("leave_out", "set")


def decode_form(resolved: dict[str, Any]) -> StudyForm:
    """Return the form of a study that was valid when it ran; older runs have the default."""
    published, quick = resolved.get("published"), resolved.get("quick", {})
    return StudyForm(
        tuple(_factor(table) for table in resolved.get("factor", ())),
        decode(Design, resolved.get("design", {})),
        decode(Quick, {**quick, **{name: flat(quick.get(name, {})) for name in _BY_KEY}}),
        None if published is None else decode(Published, published),
    )


def _factor(table: dict[str, Any]) -> Factor:
    return Factor(table["name"], flat({k: v for k, v in table.items() if k != "name"}))
