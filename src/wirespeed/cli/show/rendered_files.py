# SPDX-License-Identifier: Apache-2.0
"""Write the files of a rendered plan into a folder, and remove those of an earlier plan.

A list of what was written stays in the folder. A file of that list is removed when this plan does
not have it and its content is still as written. Other files and edited files stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath

from wirespeed.cli.output_file import write_output
from wirespeed.document.text_file import read_text_file
from wirespeed.model.errors import BadInput
from wirespeed.model.input.bounded import load_json

LIST = ".wirespeed-rendered.json"


def write_rendered(folder: Path, files: Mapping[str, str], targets: Iterable[str]) -> int:
    """Write the files; return how many older files of these targets were removed.

    Raises BadInput.
    """
    for name in files:
        # Names of hosts and guests may come from an untrusted file.
        if not _inside(name):
            raise BadInput(f"{name} is outside of {folder}", "Correct that name in the plan.")
    earlier = _earlier(folder / LIST)
    for name, text in files.items():
        path = folder / name
        _make_folder(path.parent)
        write_output(path, text)
        if name.endswith(".sh"):
            path.chmod(0o755)
    older = {name for name in earlier if name.partition("/")[0] in targets and name not in files}
    removed = [name for name in older if _removed(folder / name, earlier[name])]
    digests = {name: _digest(text.encode()) for name, text in files.items()}
    kept = {name: digest for name, digest in earlier.items() if name not in older}
    write_output(folder / LIST, json.dumps(kept | digests, indent=1, sort_keys=True) + "\n")
    return len(removed)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be made: {error.strerror}", "Choose another -o DIR."
        ) from error


def _earlier(path: Path) -> dict[str, str]:
    """Return files of an earlier rendering with their digests; empty for a foreign list."""
    try:
        found = load_json(read_text_file(path))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: str(digest) for name, digest in found.items() if _inside(name)}


def _removed(path: Path, digest: str) -> bool:
    """Remove the file if it is as it was written; return whether it was."""
    try:
        if path.is_symlink() or _digest(path.read_bytes()) != digest:
            return False
        path.unlink()
    except OSError:
        return False
    return True


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
