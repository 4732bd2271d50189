# SPDX-License-Identifier: Apache-2.0
"""What does a study file, with the user's --set on top, ask for?"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from wirespeed.bench.fault.inject import needs_of_fault
from wirespeed.model.errors import BadInput
from wirespeed.model.fault import Fault
from wirespeed.model.spec import Frames
from wirespeed.model.study import Point, Study
from wirespeed.study.errors import StudyError
from wirespeed.study.expand import expand, set_key
from wirespeed.study.keys import parameter_keys, unknown_key
from wirespeed.study.needs import Needs, needs_of_point, read_needs
from wirespeed.study.shipped import find_study


def load_study(name: str, overrides: Sequence[str] = ()) -> Study:
    """Read a study by file or shipped name. Raises StudyError with every fault at once."""
    path = find_study(name)
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", "Check the path.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(
            f"{path}: not TOML: {error}", 'TOML writes text as "..." and lists as [1, 2].'
        ) from error
    faults = [fault for text in overrides for fault in _override(raw, text)]
    faults += _resolve_pcap(raw, path.parent)
    return resolve_study(path.stem, str(path), raw, faults)


def resolve_study(
    name: str, source: str, raw: dict[str, Any], faults: Sequence[Fault] = ()
) -> Study:
    """The study that TOML data describes; `source` is what errors call it."""
    base = deepcopy(raw)
    found = list(faults)
    texts = {}
    for key in ("title", "description"):
        texts[key] = base.pop(key, "")
        if not isinstance(texts[key], str):
            found.append(Fault(key, texts[key], "must be text"))
    needs = read_needs(base.pop("needs", []), found)
    vary = _flatten(base.pop("vary", {}))
    points: dict[str, Point] = {}
    for case in _cases(base.pop("case", [{}]), vary, found):
        expanded, more = expand(base, case | vary)
        found += more
        points |= {point.id: replace(point, needs=_needs(point, needs)) for point in expanded}
    if found:
        raise StudyError(source, found)
    description = texts["description"].strip()
    return Study(name, texts["title"] or name, description, tuple(points.values()), raw)


def _needs(point: Point, needs: Sequence[Needs]) -> tuple[str, ...]:
    """What the study says that the point needs, and what its fault does."""
    of_fault = needs_of_fault(point.workload) if isinstance(point.workload, Frames) else ()
    return tuple(dict.fromkeys((*needs_of_point(needs, point.parameters), *of_fault)))


def _cases(
    written: object, vary: Mapping[str, Any], found: list[Fault]
) -> list[dict[str, list[Any]]]:
    """Each [[case]] as keys with one value each; one empty case where there are none."""
    if not isinstance(written, list) or not all(isinstance(case, dict) for case in written):
        found.append(Fault("case", written, "must be tables, each written [[case]]"))
        return []
    cases = [{key: value for key, value in _flatten(case).items() if key} for case in written]
    for key in dict.fromkeys(key for case in cases for key in case if key in vary):
        allowed = "is set by a [[case]], too: a key is either varied or told for each case"
        found.append(Fault(f'vary."{key}"', vary[key], allowed))
    return [{key: [value] for key, value in case.items()} for case in cases]


def _flatten(vary: object, prefix: str = "") -> dict[str, Any]:
    """[vary] with keys quoted or not: "traffic.frame" and traffic.frame mean the same."""
    if not isinstance(vary, dict):
        return {prefix.rstrip("."): vary}
    flat: dict[str, Any] = {}
    for key, value in vary.items():
        flat |= (
            _flatten(value, f"{prefix}{key}.")
            if isinstance(value, dict)
            else {f"{prefix}{key}": value}
        )
    return flat


def _override(raw: dict[str, Any], text: str) -> list[Fault]:
    """Apply one --set. A key that the study varies is fixed; vary.KEY=[...] varies it.

    So is one that its cases set: whoever sets a key wants that value in every point.
    """
    key, equals, written = text.partition("=")
    key = key.strip()
    if not equals:
        return [Fault("--set", text, "must be key=value, e.g. traffic.frame=64")]
    target = key.removeprefix("vary.")
    if target not in parameter_keys():
        return [Fault(f"--set {key}", written, unknown_key(target))]
    vary = _flatten(raw.get("vary", {}))
    vary.pop(target, None)
    raw |= _cases_without(target, raw)
    try:
        if key != target:
            vary[target] = _value(written)
        else:
            set_key(raw, key, _value(written))
    except TypeError as error:
        return [Fault(str(error), key, "must be a table")]
    raw["vary"] = vary
    if not vary:
        del raw["vary"]
    return []


def _cases_without(key: str, raw: dict[str, Any]) -> dict[str, Any]:
    """The study's cases, none of which sets the key; nothing where it has no cases."""
    cases = raw.get("case")
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        return {}  # Said when the cases are read.
    flattened = [_flatten(case) for case in cases]
    return {"case": [{k: v for k, v in case.items() if k != key} for case in flattened]}


def _value(written: str) -> Any:
    """A TOML value; what is none is text, so that --set topology.kind=p2p needs no quotes."""
    try:
        return tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        return written.strip()


def _resolve_pcap(raw: dict[str, Any], folder: Path) -> list[Fault]:
    """A relative capture file lies next to the study that names it; it must exist."""
    traffic = raw.get("traffic")
    if not isinstance(traffic, dict) or not isinstance(traffic.get("pcap"), str):
        return []
    path = (folder / traffic["pcap"]).resolve()
    if not path.is_file():
        return [Fault("traffic.pcap", traffic["pcap"], f"no such file: {path}")]
    traffic["pcap"] = str(path)
    return []
