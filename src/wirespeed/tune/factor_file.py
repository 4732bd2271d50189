# SPDX-License-Identifier: Apache-2.0
"""Read a file of factors: tables [[factor]], each with a name and its other level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wirespeed.document.text_file import read_text_file
from wirespeed.model.errors import BadInput, faulty_file
from wirespeed.model.input.bounded import load_toml
from wirespeed.model.input.fault import Fault
from wirespeed.model.input.text import KERNEL_WORD, LINE
from wirespeed.study.form import flatten
from wirespeed.study.keys import parameter_keys, unknown_key
from wirespeed.tune.factor import Factor, Needs

_NEEDS: Mapping[str, Needs] = {
    "switch": Needs.SWITCH, "vnf": Needs.FUNCTION, "guest": Needs.GUEST, "host": Needs.HOST,
    "reboot": Needs.REBOOT,
}  # fmt: skip
_OWN = ("name", "needs", "cpus", "memory_mib", "host", "levels", "kernel")
_OF_LEVEL = ("host", "cpus", "memory_mib")
# A factor may write no other files of the host.
_BELOW = ("/proc/sys/", "/proc/irq/", "/sys/")


def read_factors(path: Path) -> tuple[Factor, ...]:
    """Return the factors of the file. Raises BadInput with all errors at once."""
    try:
        raw = load_toml(read_text_file(path, "utf-8-sig"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", "Check the path.") from error
    except ValueError as error:
        raise BadInput(f"{path}: not TOML: {error}", "Write each factor as [[factor]].") from error
    tables = raw.get("factor")
    if not isinstance(tables, list) or not tables or raw.keys() - {"factor"}:
        raise BadInput(f"{path}: has no tables [[factor]], or others", "Write only [[factor]].")
    faults = [str(fault) for table in tables for fault in _faults(table)]
    faults += _twice([table.get("name") for table in tables if isinstance(table, dict)])
    if faults:
        raise faulty_file(str(path), faults, "docs/reference/tune.md lists the keys of a factor.")
    return tuple(factor for table in tables for factor in _factors(table))


def _twice(names: Sequence[object]) -> list[str]:
    """Return the errors of names that several factors have."""
    seen = [name for name in names if isinstance(name, str)]
    return [
        str(Fault("factor.name", name, "is the name of another factor, too"))
        for name in dict.fromkeys(seen) if seen.count(name) > 1
    ]  # fmt: skip


def _faults(table: object) -> Iterator[Fault]:
    if not isinstance(table, dict):
        yield Fault("factor", table, "must be a table, written [[factor]]")
        return
    name = table.get("name")
    if not isinstance(name, str) or not LINE.fits(name) or not name:
        yield Fault("factor.name", name, "must be a text of one line")
    if (needs := table.get("needs", "switch")) not in _NEEDS:
        yield Fault("factor.needs", needs, f"must be one of {', '.join(_NEEDS)}")
    if "kernel" in table:
        yield from _kernel_faults(table)
    elif "levels" in table:
        yield from _level_faults(table)
    else:
        yield from _value_faults(table)


def _kernel_faults(table: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the errors of a factor that adds words to the kernel command line."""
    name, words = table.get("name"), table["kernel"]
    if not isinstance(words, list) or not words or not all(_is_word(word) for word in words):
        yield Fault(f"factor {name!r}: kernel", words, f"must be a list, each {KERNEL_WORD.wanted}")
    others = sorted(table.keys() - {"name", "needs", "kernel"})
    if others:
        yield Fault(f"factor {name!r}", others[0], "cannot be set together with `kernel`")
    if table.get("needs", "reboot") != "reboot":
        yield Fault("factor.needs", table["needs"], 'must be "reboot" where there is `kernel`')


def _is_word(word: object) -> bool:
    return isinstance(word, str) and KERNEL_WORD.fits(word)


def _level_faults(table: Mapping[str, Any]) -> Iterator[Fault]:
    name, levels = table.get("name"), table["levels"]
    if both := sorted({*_keys(table), *(key for key in _OF_LEVEL if key in table)}):
        yield Fault(f"factor {name!r}", both[0], "must be in a level, where there are `levels`")
    tables = isinstance(levels, list) and all(isinstance(each, dict) for each in levels)
    if not tables or not levels:
        yield Fault("factor.levels", levels, 'must be tables, e.g. [{ "KEY" = 512 }]')
        return
    for at, level in enumerate(levels):
        if level in levels[:at]:
            yield Fault(f"factor {name!r}", level, "is a level twice")
        for key in ("name", "needs", "levels"):
            if key in level:
                yield Fault(f"factor {name!r}", key, "must be next to `levels`, not in a level")
        yield from _value_faults({**level, "name": name})


def _value_faults(table: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the errors of one level."""
    name = table.get("name")
    for key in ("cpus", "memory_mib"):
        value = table.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            yield Fault(f"factor.{key}", value, "must be a whole number, 0 or more")
    host = table.get("host", {})
    if not isinstance(host, dict) or not all(isinstance(v, str) for v in host.values()):
        yield Fault("factor.host", host, 'must be texts by file, e.g. { "/proc/sys/..." = "1" }')
    else:
        for file in host:
            if not file.startswith(_BELOW) or ".." in file:
                yield Fault("factor.host", file, f"must be below {', '.join(_BELOW)}")
    keys = _keys(table)
    for key in keys:
        if key not in parameter_keys():
            yield Fault(f"factor {name!r}", key, unknown_key(key))
    if not keys and not host:
        yield Fault("factor", name, "sets nothing: name a key of a study, or a file in `host`")


def _keys(table: Mapping[str, Any]) -> dict[str, Any]:
    return flatten({key: value for key, value in table.items() if key not in _OWN})


def _factors(table: Mapping[str, Any]) -> Iterator[Factor]:
    """Yield a factor for each level that the table names."""
    if "levels" not in table:
        yield _factor(table["name"], table, table)
        return
    for level in table["levels"]:
        factor = _factor(table["name"], table, level)
        yield replace(factor, name=f"{factor.name}: {factor.change}", of=factor.name)


def _factor(name: str, table: Mapping[str, Any], level: Mapping[str, Any]) -> Factor:
    if "kernel" in table:
        return Factor(name, needs=Needs.REBOOT, kernel=tuple(table["kernel"]))
    host, keys = dict(level.get("host", {})), _keys(level)
    usual = "host" if host and not keys else "switch"
    return Factor(
        name, keys, _NEEDS[table.get("needs", usual)], host, level.get("cpus", 0),
        level.get("memory_mib", 0),
    )  # fmt: skip
