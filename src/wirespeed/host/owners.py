# SPDX-License-Identifier: Apache-2.0
"""Read which services may write settings of the data plane, and what tuned's profile sets.

Source: systemctl(1); tuned.conf(5) and tuned-profiles(7), with the folders of tuned 2.10 to 2.25.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterator, Mapping

from wirespeed.host.reader import Files, Reader
from wirespeed.model.host.platform import Service, Tuned

SERVICES = (
    "irqbalance", "tuned", "power-profiles-daemon", "cpupower", "cpufrequtils", "tlp",
    "wirespeed-host",
)  # fmt: skip
SHOW = ["systemctl", "show", "--property=Id,ActiveState", *(f"{name}.service" for name in SERVICES)]
ACTIVE = "/etc/tuned/active_profile"
# The administrator's profiles hide those of the same name in /usr.
_FOLDERS = ("/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned")
_NAMES = re.compile(r"[\s,;]+")
# Options by which a section of a profile is described, not settings.
_ABOUT = (
    "type", "replace", "enabled", "drop", "devices", "priority", "uname_regex", "cpuinfo_regex",
)  # fmt: skip
_OFF = ("false", "0", "n", "no")
_Units = dict[str, dict[str, str]]


def read_services(reader: Reader) -> tuple[Service, ...] | None:
    """Return the state of SERVICES, absent ones as not active; None without systemd."""
    printed = reader.output(SHOW, "services", needs="needs systemctl", failed="systemctl", line=0)
    if printed is None:
        return None
    states = {}
    for block in printed.split("\n\n"):
        keys = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        states[keys.get("Id", "").removesuffix(".service")] = keys.get("ActiveState", "")
    untold = [name for name in SERVICES if not states.get(name)]
    if untold:
        reader.lacks("services", f"systemctl prints no state of {', '.join(untold)}")
        return None
    return tuple(Service(name, states[name] == "active") for name in SERVICES)


def read_tuned(reader: Reader) -> Tuned | None:
    """Return the active profiles; None where tuned is not installed or has none."""
    patterns = [ACTIVE, *(f"{folder}/*/tuned.conf" for folder in _FOLDERS)]
    files = reader.many(patterns, "tuned")
    names = tuple(filter(None, _NAMES.split(files.get(ACTIVE, ""))))
    if not names:
        return None
    units: _Units = {}
    for name in names:
        _add(reader, files, name, units, ())
    options = {f"{unit['type']}.{option}" for unit in units.values() for option in _settings(unit)}
    return Tuned(names, tuple(sorted(options)))


def _settings(unit: Mapping[str, str]) -> Iterator[str]:
    return (option for option in unit if option not in _ABOUT)


def _add(reader: Reader, files: Files, name: str, units: _Units, within: tuple[str, ...]) -> None:
    """Add the sections of a profile to those of its parents. within: its children."""
    path = next(
        (path for folder in _FOLDERS if (path := f"{folder}/{name}/tuned.conf") in files), None
    )
    if path is None or name in within:
        reader.lacks("tuned", f"profile {name} has no tuned.conf, or includes itself")
        return
    parsed = configparser.RawConfigParser(delimiters=("=",), strict=False, allow_no_value=True)
    parsed.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parsed.read_string(files[path])
    except configparser.Error as fault:
        reader.lacks("tuned", f"{path}: {fault.message}")
        return
    main = parsed["main"] if parsed.has_section("main") else {}
    for parent in filter(None, _NAMES.split(main.get("include") or "")):
        _add(reader, files, parent, units, (*within, name))
    for section in parsed.sections():
        if section not in ("main", "variables"):
            _merge(units, section, {key: value or "" for key, value in parsed[section].items()})


def _merge(units: _Units, section: str, options: dict[str, str]) -> None:
    if options.get("enabled", "").lower() in _OFF and "enabled" in options:
        units.pop(section, None)
        return
    replaces = options.get("replace", "").lower() not in ("", *_OFF)
    before = {} if replaces else units.get(section, {})
    dropped = _NAMES.split(options.get("drop", ""))
    kept = {key: value for key, value in before.items() if key not in dropped}
    units[section] = {"type": section, **kept, **options}
