# SPDX-License-Identifier: Apache-2.0
"""Find how wirespeed was installed, its programs, and commands for its modules and extras.

The project owns the name wirespeed on no package index, so no advice installs it from one.
"""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

# The Debian package keeps its libraries there; pip must not change them.
_DEBIAN = "/usr/lib/wirespeed"


def install_extra(extra: str) -> str:
    """Return the command that installs an extra of pyproject.toml in this environment.

    It installs from the original source folder if that still exists, otherwise from a new clone.
    """
    if Path(sys.executable).is_relative_to(_DEBIAN):
        return f"pip install '.[{extra}]' in a virtual environment and a clone of the repository"
    source = _source()
    python = shlex.quote(str(Path(sys.executable)))
    if source is None:
        return f"{python} -m pip install '.[{extra}]' in a clone of the repository"
    editable = "-e " if source[1] else ""
    return f"{python} -m pip install {editable}{shlex.quote(f'{source[0]}[{extra}]')}"


def installed_program(name: str) -> Path:
    """Return where a package or wheel of wirespeed installs a program: next to this Python."""
    return Path(sys.executable).with_name(name)


def own_module(name: str) -> list[str]:
    """Return the command that runs a module of wirespeed with this Python.

    -P: with -m, Python would import from the working folder first, which may be anybody's. The
    option -s of this process is passed on, so that both see the same libraries.
    """
    same = ["-s"] if sys.flags.no_user_site else []
    return [sys.executable, "-P", *same, "-m", name]


def _source() -> tuple[Path, bool] | None:
    """Return the source folder that pip installed from, and whether it is editable (PEP 610).

    Returns None if the folder is gone.
    """
    try:
        told = _distribution().read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    about = json.loads(told or "{}")
    url = urlsplit(about.get("url", ""))
    folder = Path(unquote(url.path))
    if url.scheme != "file" or not (folder / "pyproject.toml").is_file():
        return None
    return folder, bool(about.get("dir_info", {}).get("editable"))


def _distribution() -> Distribution:
    return distribution("wirespeed")
