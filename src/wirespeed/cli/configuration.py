# SPDX-License-Identifier: Apache-2.0
"""Read wirespeed.toml: defaults of options, from the user's folder and from the working folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wirespeed.document.private_file import read_own
from wirespeed.document.text_file import why_unread
from wirespeed.model.errors import BadInput, faulty_file
from wirespeed.model.input.bounded import load_toml
from wirespeed.model.input.text import FILE_PATH

FILE_NAME = "wirespeed.toml"
# Shorter, and a controller that waits for its disk would lose its hosts.
MIN_LEASE_S = 5.0


@dataclass(frozen=True, slots=True)
class Default:
    """A value that an option has where the command line and the environment do not name one."""

    value: str
    source: Path
    """The file that says so."""


def defaults(env: Mapping[str, str] = os.environ) -> dict[str, Default]:
    """Return the defaults by the options' names; the working folder's file comes first.

    Raises BadInput for a file that is wrong, or that another user could have written.
    """
    found: dict[str, Default] = {}
    for path in (_config_home(env) / "wirespeed" / FILE_NAME, Path(FILE_NAME)):
        found |= _read(path)
    return found


def _config_home(env: Mapping[str, str]) -> Path:
    """Return $XDG_CONFIG_HOME, or ~/.config (XDG Base Directory 0.8)."""
    home = env.get("XDG_CONFIG_HOME", "")
    return Path(home) if home.startswith("/") else Path.home() / ".config"


def _read(path: Path) -> dict[str, Default]:
    try:
        text = read_own(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        why = why_unread(error)
        raise BadInput(f"{path}: cannot be used: {why}", "Correct that, or remove it.") from error
    try:
        table = load_toml(text)
    except ValueError as error:
        raise BadInput(f"{path}: is not TOML: {error}", _NEXT) from error
    if faults := list(_faults(text, table)):
        raise faulty_file(str(path), faults, _NEXT)
    folder = path.absolute().parent
    return {key: Default(_KEYS[key].word(value, folder), path) for key, value in table.items()}


def _faults(text: str, table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if key not in _KEYS:
            yield f"line {_line(text, key)}: {key}: unknown key"
        elif not _KEYS[key].fits(value):
            yield f"line {_line(text, key)}: {key}: must be {_KEYS[key].wanted}"


def _line(text: str, key: str) -> int:
    """Return the line that has the key or the table."""
    here = re.compile(rf"\s*\[*\s*[\"']?{re.escape(key)}[\"']?\s*[=.\]]")
    lines = enumerate(text.splitlines(), start=1)
    return next((number for number, line in lines if here.match(line)), 1)


@dataclass(frozen=True, slots=True)
class _Key:
    """Form of a key, and its value as on a command line in the file's folder."""

    wanted: str
    fits: Callable[[Any], bool]
    word: Callable[[Any, Path], str]


def _is_text(value: Any) -> bool:
    # Help prints it as it is.
    return FILE_PATH.fits(value)


def _is_seconds(value: Any) -> bool:
    return type(value) in (int, float) and MIN_LEASE_S <= value < float("inf")


def _store(value: str, folder: Path) -> str:
    return value if "://" in value else _file(value, folder)


def _file(value: str, folder: Path) -> str:
    # Unlike Path.expanduser, it leaves the name of a user that there is not.
    return str(folder / os.path.expanduser(value))


def _same(value: Any, _folder: Path) -> str:
    return str(value)


_KEYS = {
    "store": _Key("a file or a database's URL, as --store takes it", _is_text, _store),
    "lab": _Key("a testbed file, as --lab takes it", _is_text, _file),
    "lease": _Key(f"seconds, {MIN_LEASE_S:g} or more", _is_seconds, _same),
    "holder": _Key("a name, as --holder takes it", _is_text, _same),
}
_NEXT = f"It may have: {', '.join(_KEYS)}."
