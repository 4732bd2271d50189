# SPDX-License-Identifier: Apache-2.0
"""Read the host's distribution.

Source: os-release(5): assignments that a shell can read, in /etc, else in /usr/lib.
"""

from __future__ import annotations

import shlex

from wirespeed.host.reader import Reader
from wirespeed.model.host.operating_system import OperatingSystem
from wirespeed.model.input.fault import show

PATHS = ("/etc/os-release", "/usr/lib/os-release")
_FACT = "operating_system"
_LONGEST = 65536
_KEYS = ("ID", "ID_LIKE", "VERSION_ID", "NAME")


def read_operating_system(reader: Reader) -> OperatingSystem | None:
    """Return the distribution; None where the host has no os-release."""
    for path in PATHS:
        text = reader.text(path, _FACT)
        if text is not None:
            return _read(reader, path, text)
    return None


def _read(reader: Reader, path: str, text: str) -> OperatingSystem | None:
    if len(text) > _LONGEST:
        reader.lacks(_FACT, f"{path} has {len(text)} characters, more than {_LONGEST}")
        return None
    values = _assigned(reader, path, text)
    return OperatingSystem(
        # The manual's defaults.
        id=values.get("ID") or "linux",
        id_like=tuple(values.get("ID_LIKE", "").split()),
        version_id=values.get("VERSION_ID", ""),
        name=values.get("NAME") or "Linux",
    )


def _assigned(reader: Reader, path: str, text: str) -> dict[str, str]:
    values = {}
    for line in text.split("\n"):
        key, equals, assigned = line.strip().partition("=")
        if not equals or key not in _KEYS:
            continue
        try:
            words = shlex.split(assigned)
        except ValueError:
            words = [assigned, ""]
        if len(words) > 1:
            reader.lacks(_FACT, f"{path}: {show(line)} is not an assignment of one word")
        else:
            values[key] = "".join(words)
    return values
