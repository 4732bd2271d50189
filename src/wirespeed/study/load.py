# SPDX-License-Identifier: Apache-2.0
"""Load a study file and apply the user's --set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from wirespeed.document.text_file import read_text_file
from wirespeed.model.errors import BadInput
from wirespeed.model.input.bounded import load_toml
from wirespeed.model.input.fault import Fault
from wirespeed.model.input.text import LINE, PROSE, printable
from wirespeed.model.study.study import Point, Study
from wirespeed.study.design import arranged, varied
from wirespeed.study.errors import StudyError
from wirespeed.study.expand import set_key
from wirespeed.study.form import design_keys, flatten, read_form
from wirespeed.study.keys import FORM_TABLES, parameter_keys, unknown_key
from wirespeed.study.kinds.registry import kind_of
from wirespeed.study.needs import Needs, needs_of_point, read_needs
from wirespeed.study.shipped import find_study


def load_study(name: str, overrides: Sequence[str] = (), *, quick: bool = False) -> Study:
    """Read a study by file or shipped name. quick: its short form.

    Raises StudyError with all errors at once.
    """
    path = find_study(name)
    try:
        raw = load_toml(read_text_file(path, "utf-8-sig"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", "Check the path.") from error
    except ValueError as error:
        raise BadInput(
            f"{path}: not TOML: {error}", 'TOML writes text as "..." and lists as [1, 2].'
        ) from error
    faults = []
    if quick:
        faults += _make_quick(raw)
    faults += [fault for text in overrides for fault in _override(raw, text)]
    faults += _resolve_pcap(raw, path.parent)
    return resolve_study(path.stem, str(path), raw, faults)


def _make_quick(raw: dict[str, Any]) -> list[Fault]:
    """Set the values of the study's short form; its levels are excluded later."""
    quick = raw.get("quick")
    if not isinstance(quick, dict):
        return [Fault("--quick", True, "the study has no short form (table [quick]); leave it out")]
    if isinstance(values := quick.get("set", {}), dict):
        for key, value in flatten(values).items():
            _set_everywhere(raw, key, value)
    quick["on"] = True
    return []


def resolve_study(
    name: str, source: str, raw: dict[str, Any], faults: Sequence[Fault] = ()
) -> Study:
    """Return the study that TOML data describes.

    source: name of the file in errors. Raises StudyError with all errors at once.
    """
    base = deepcopy(raw)
    found = list(faults)
    texts = {}
    for key, form_of_text in (("title", LINE), ("description", PROSE)):
        texts[key] = base.pop(key, "")
        if not form_of_text.fits(texts[key]):
            found.append(Fault(key, texts[key], f"must be {form_of_text.wanted}"))
    found += _unfit(base)
    needs = read_needs(base.pop("needs", []), found)
    form = read_form(base, found)
    vary = flatten(base.pop("vary", {}))
    cases = _cases(base.pop("case", [{}]), vary, found)
    if any(fault.key.partition(".")[0] in ("factor", *FORM_TABLES) for fault in found):
        raise StudyError(source, found)
    points = varied(base, vary, cases, form, found)
    points = tuple(replace(point, needs=_needs(point, needs)) for point in points)
    points, order, left_out = arranged(points, form, found)
    if found:
        raise StudyError(source, found)
    title, description = texts["title"] or name, texts["description"].strip()
    return Study(name, title, description, points, raw, form, order, left_out)


def _unfit(value: object, key: str = "") -> Iterator[Fault]:
    """Yield keys and texts, at any depth, with control characters or line breaks."""
    if isinstance(value, str) and not LINE.fits(value):
        yield Fault(key, value, f"must be {LINE.wanted}")
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            where = f"{key}.{name}" if key else name
            yield from _unfit(name, f"the key {printable(where, 60)}")
            yield from _unfit(inner, where)
    elif isinstance(value, list):
        for inner in value:
            yield from _unfit(inner, key)


def _needs(point: Point, needs: Sequence[Needs]) -> tuple[str, ...]:
    """Return the point's requirements: those of the study and those of its workload."""
    of_kind = kind_of(point.workload).needs
    return tuple(dict.fromkeys((*needs_of_point(needs, point.parameters), *of_kind)))


def _cases(
    written: object, vary: Mapping[str, Any], found: list[Fault]
) -> list[dict[str, list[Any]]]:
    """Return each [[case]] as keys with lists of values.

    A key has one value, or those that the case's own `vary` lists. Without cases, one empty case is
    returned.
    """
    if not isinstance(written, list) or not all(isinstance(case, dict) for case in written):
        found.append(Fault("case", written, "must be tables, each written [[case]]"))
        return []
    cases = []
    for case in written:
        own = flatten(case.get("vary", {}))
        told = {key: [value] for key, value in flatten(_without_vary(case)).items() if key}
        for key in sorted(own.keys() & told.keys()):
            found.append(Fault(f'case.vary."{key}"', own[key], "is also set by the same [[case]]"))
        cases.append(told | own)
    for key in dict.fromkeys(key for case in cases for key in case if key in vary):
        allowed = "is also set by a [[case]]: a key is either varied or set by each case"
        found.append(Fault(f'vary."{key}"', vary[key], allowed))
    return cases


def _without_vary(case: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in case.items() if key != "vary"}


def _override(raw: dict[str, Any], text: str) -> list[Fault]:
    """Apply one --set. A key that the study varies is fixed; vary.KEY=[...] varies it.

    A key that cases or factors set is fixed, too: a user who sets a key wants it in every point.
    """
    key, equals, written = text.partition("=")
    key = key.strip()
    if not equals:
        return [Fault("--set", text, "must be key=value, e.g. traffic.frame=64")]
    target = key.removeprefix("vary.")
    if target not in parameter_keys() and key not in design_keys():
        return [Fault(f"--set {key}", written, unknown_key(target))]
    try:
        if key != target:
            _fix(raw, target)
            raw["vary"] = flatten(raw.get("vary", {})) | {target: _value(written)}
        else:
            _set_everywhere(raw, key, _value(written))
    except TypeError as error:
        return [Fault(str(error), key, "must be a table")]
    return []


def _set_everywhere(raw: dict[str, Any], key: str, value: Any) -> None:
    """Set the value in all points. Raises TypeError if the key's parent is not a table."""
    _fix(raw, key)
    set_key(raw, key, value)


def _fix(raw: dict[str, Any], key: str) -> None:
    """Remove the key from `vary`, cases and factors."""
    vary = flatten(raw.get("vary", {}))
    vary.pop(key, None)
    raw["vary"] = vary
    if not vary:
        del raw["vary"]
    for name in ("case", "factor"):
        tables = raw.get(name)
        # Other types are reported when they are read.
        if isinstance(tables, list) and all(isinstance(table, dict) for table in tables):
            gone = (key, f"vary.{key}")
            kept = [{k: v for k, v in flatten(table).items() if k not in gone} for table in tables]
            raw[name] = [table for table in map(_nested_vary, kept) if table.keys() - {"name"}]
            if name == "case" and not raw[name]:
                raw[name] = [{}]


def _nested_vary(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the case with its varied keys in a table of their own again."""
    own = {k.removeprefix("vary."): v for k, v in case.items() if k.startswith("vary.")}
    told = {k: v for k, v in case.items() if not k.startswith("vary.")}
    return told | ({"vary": own} if own else {})


def _value(written: str) -> Any:
    """Return a TOML value; anything else is text, so --set topology.kind=p2p needs no quotes."""
    try:
        return load_toml(f"value = {written}")["value"]
    except ValueError:
        return written.strip()


def _resolve_pcap(raw: dict[str, Any], folder: Path) -> list[Fault]:
    """Resolve a relative capture file next to the study; it must exist."""
    traffic = raw.get("traffic")
    if not isinstance(traffic, dict) or not isinstance(traffic.get("pcap"), str):
        return []
    path = (folder / traffic["pcap"]).resolve()
    if not path.is_file():
        return [Fault("traffic.pcap", traffic["pcap"], f"no such file: {path}")]
    traffic["pcap"] = str(path)
    return []
