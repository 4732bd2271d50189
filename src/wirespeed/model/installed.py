# SPDX-License-Identifier: Apache-2.0
"""How was this wirespeed installed, and which command adds an optional part of it?

The name wirespeed is on no package index that the project owns: no advice names it to one.
"""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit


def install_extra(extra: str) -> str:
    """The command that installs an extra of pyproject.toml into this environment.

    From the folder that this wirespeed was installed from, where it is still there; from a clone
    that is to be made otherwise.
    """
    source = _source()
    python = shlex.quote(str(Path(sys.executable)))
    if source is None:
        return f"{python} -m pip install '.[{extra}]' in a clone of the repository"
    editable = "-e " if source[1] else ""
    return f"{python} -m pip install {editable}{shlex.quote(f'{source[0]}[{extra}]')}"


def _source() -> tuple[Path, bool] | None:
    """The folder that pip installed from and whether editable (PEP 610); None if it is gone."""
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
