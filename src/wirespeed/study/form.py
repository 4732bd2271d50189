# SPDX-License-Identifier: Apache-2.0
"""Read a study file's factors, design, quick form and published table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from pydantic import ConfigDict, create_model
from pydantic_core import ErrorDetails

from wirespeed.document.toml_kind import TomlKind
from wirespeed.document.validation import fault_of
from wirespeed.experiment.combinations import MAX_FACTORS, generator
from wirespeed.model.input.fault import Fault
from wirespeed.model.input.text import LINE
from wirespeed.model.study.design import Combine, Design, Factor, Published, Quick, StudyForm
from wirespeed.published.tables import TABLES
from wirespeed.study.keys import FORM_TABLES, parameter_keys, unknown_key

_Tables: Any = create_model(
    "_Tables",
    __config__=ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False),
    design=(Design, Design()),
    quick=(Quick, Quick()),
    published=(Published | None, None),
)


def read_form(raw: dict[str, Any], found: list[Fault]) -> StudyForm:
    """Take these tables out of `raw` and return them; errors are added to `found`."""
    tables = {name: raw.pop(name) for name in FORM_TABLES if name in raw}
    factors = _factors(raw.pop("factor", []), found)
    quick = tables.get("quick")
    if isinstance(quick, dict):
        for name in ("leave_out", "set"):
            if isinstance(quick.get(name), dict):
                quick[name] = flatten(quick[name])
    read = TomlKind[Any](_Tables.model_validate, fault=_fault).read(tables, found)
    if read is None:
        return StudyForm(factors)
    form = StudyForm(factors, read.design, read.quick, read.published)
    found += _design_faults(form, "design" in tables)
    found += _key_faults(form)
    if form.published is not None and form.published.table not in TABLES:
        allowed = f"must be one of {', '.join(TABLES)}"
        found.append(Fault("published.table", form.published.table, allowed))
    return form


def flatten(written: object, prefix: str = "") -> dict[str, Any]:
    """Return tables by dotted key; quoted "traffic.frame" and plain traffic.frame are equal."""
    if not isinstance(written, dict):
        return {prefix.rstrip("."): written}
    flat: dict[str, Any] = {}
    for key, value in written.items():
        flat |= (
            flatten(value, f"{prefix}{key}.")
            if isinstance(value, dict)
            else {f"{prefix}{key}": value}
        )
    return flat


def _factors(written: object, found: list[Fault]) -> tuple[Factor, ...]:
    if not isinstance(written, list) or not all(isinstance(each, dict) for each in written):
        found.append(Fault("factor", written, "must be tables, each written [[factor]]"))
        return ()
    factors = []
    for number, table in enumerate(written, start=1):
        name = table.get("name")
        if not name or not LINE.fits(name):
            allowed = f"factor {number} needs a name: {LINE.wanted}"
            found.append(Fault("factor.name", name, allowed))
            continue
        factors.append(Factor(name, flatten({k: v for k, v in table.items() if k != "name"})))
    names = [factor.name for factor in factors]
    for name in sorted({name for name in names if names.count(name) > 1}):
        found.append(Fault("factor.name", name, "names two factors"))
    if len(factors) > MAX_FACTORS:
        found.append(Fault("factor", f"{len(factors)} factors", f"at most {MAX_FACTORS}"))
    return tuple(factors)


def _design_faults(form: StudyForm, given: bool) -> Iterator[Fault]:
    design, factors = form.design, form.factors
    if given and design.combine != Design().combine and not factors:
        yield Fault("design.combine", list(design.combine), "there is no [[factor]] to combine")
    fractional = Combine.FRACTION in design.combine
    if fractional != bool(design.generators):
        allowed = 'goes with combine = ["fraction"], and that with generators'
        yield Fault("design.generators", list(design.generators), allowed)
    decided = []
    for text in design.generators:
        try:
            decided.append(generator(text, len(factors)))
        except ValueError as error:
            yield Fault("design.generators", text, str(error))
    targets = [number for number, _, _ in decided]
    if len(set(targets)) != len(targets) or any(set(targets) & by for _, by, _ in decided):
        allowed = "must decide each factor once, by factors that none of them decides"
        yield Fault("design.generators", list(design.generators), allowed)
    if fractional or Combine.FACTORIAL in design.combine:
        yield from _same_keys(form)


def _same_keys(form: StudyForm) -> Iterator[Fault]:
    """Yield pairs of factors that set the same key, which cannot both be on."""
    first: dict[str, str] = {}
    for factor in form.factors:
        for key in factor.sets:
            if (other := first.setdefault(key, factor.name)) != factor.name:
                allowed = f"is set by factor {other!r}, too: both cannot be on"
                yield Fault(f"factor {factor.name!r}", key, allowed)


def _key_faults(form: StudyForm) -> Iterator[Fault]:
    """Yield the keys that belong neither to a point nor to the design."""
    for factor in form.factors:
        if not factor.sets:
            yield Fault("factor", factor.name, "sets nothing; name a key of a point and its value")
        for key in factor.sets:
            if key not in parameter_keys():
                yield Fault(f"factor {factor.name!r}", key, unknown_key(key))
    for key in form.quick.leave_out:
        if key not in parameter_keys():
            yield Fault("quick.leave_out", key, unknown_key(key))
    for key in form.quick.set:
        if key not in parameter_keys() and key not in design_keys():
            yield Fault("quick.set", key, unknown_key(key))


def design_keys() -> tuple[str, ...]:
    """Return the keys of [design], which --set and a quick form may set, too."""
    return tuple(f"design.{each.name}" for each in fields(Design))


def left_out(quick: Quick, values: Mapping[str, Any]) -> bool:
    """Return whether the quick form excludes a point with these values, by dotted key."""
    return any(values.get(key) in levels for key, levels in quick.leave_out.items())


def _fault(detail: ErrorDetails) -> Fault:
    table = str(detail["loc"][0])
    known = {"design": Design, "quick": Quick, "published": Published}[table]
    names = ", ".join(each.name for each in fields(known))
    return fault_of(detail, f"unknown key. [{table}] has: {names}")
