# SPDX-License-Identifier: Apache-2.0
"""Find the shipped studies, and the file of a study by name."""

from __future__ import annotations

import difflib
from pathlib import Path

from wirespeed.model.errors import BadInput

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped_directory() -> Path:
    """Return wirespeed/studies of an installed wheel, or studies/ of a source tree."""
    packaged = _PACKAGE / "studies"
    return packaged if packaged.is_dir() else _PACKAGE.parent.parent / "studies"


def shipped_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in shipped_directory().glob("*.toml")))


def find_study(name: str) -> Path:
    """Return the file of a study by path or by shipped name. Raises BadInput."""
    path = Path(name)
    if path.suffix == ".toml" or "/" in name:
        if path.is_dir():
            raise BadInput(f"{name} is a folder", "Name a study file in it.")
        if not path.is_file():
            raise BadInput(f"{name}: no such study file", "`wirespeed study list` lists studies.")
        return path
    shipped = shipped_directory() / f"{name}.toml"
    if shipped.is_file():
        return shipped
    known = shipped_names()
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    own = f"./{name}" if path.is_file() else f"./{name}.toml"
    raise BadInput(
        f"study {name!r}: not shipped with wirespeed; shipped are {', '.join(known)}",
        f"{hint}A file of your own is named by its path, e.g. {own}.",
    )
