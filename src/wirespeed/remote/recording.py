# SPDX-License-Identifier: Apache-2.0
"""Hold the recording of a host, and write it as a folder of files.

    recording.json   schema, host, every glob, what was absent or denied, commands, sizes
    lines.txt        the one-line files of /sys and /proc: path, a tab, the line
    files/...        the other files, under their own paths
    commands/...     what each command printed

The manifest has the size of every file, so that a truncated folder is noticed. A folder may come
from an untrusted source: a path that leads outside it is rejected.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wirespeed.document.private_file import make_private_folder, write_private
from wirespeed.document.readable_json import readable_json
from wirespeed.document.text_file import read_text_file
from wirespeed.document.validation import faults_of
from wirespeed.model.errors import BadInput, faulty_file

SCHEMA: Literal["wirespeed.recording/1"] = "wirespeed.recording/1"
MANIFEST = "recording.json"
LINES = "lines.txt"
FILES = "files"
COMMANDS = "commands"
MAX_OCTETS = 64 << 20
"""Largest file in a recording, in octets; an agent sends no larger file either."""


@dataclass(frozen=True, slots=True)
class RecordedCommand:
    argv: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str


@dataclass(slots=True)
class Recording:
    """Every file, glob and command that was read on one host."""

    host: str
    files: dict[str, str] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)
    unreadable: set[str] = field(default_factory=set)
    globs: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    """Paths that a glob found and that were not read."""
    commands: list[RecordedCommand] = field(default_factory=list)
    programs_missing: set[str] = field(default_factory=set)
    """Names of programs."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Command(_Strict):
    argv: tuple[str, ...] = Field(min_length=1)
    exit_code: int
    stdout: str
    stdout_bytes: int
    stderr: str = ""


class _Manifest(_Strict):
    schema_: Literal["wirespeed.recording/1"] = Field(alias="schema")
    host: str
    lines_bytes: int
    files: dict[str, int]
    globs: tuple[str, ...]
    names: tuple[str, ...]
    absent: tuple[str, ...]
    denied: tuple[str, ...]
    unreadable: tuple[str, ...]
    programs_missing: tuple[str, ...]
    commands: tuple[_Command, ...]


def make_folder(folder: Path) -> None:
    """Make an empty folder for a recording. Raises BadInput where that is impossible."""
    advice = "Name a folder that does not exist yet."
    try:
        make_private_folder(folder)
        taken = any(folder.iterdir())
    except FileExistsError:
        raise BadInput(f"{folder} is a file, not a folder", advice) from None
    except OSError as fault:
        raise BadInput(f"{folder} cannot be made: {fault.strerror}", advice) from fault
    if taken:
        raise BadInput(f"{folder} exists and is not empty", advice)


def save(recording: Recording, folder: Path) -> None:
    """Write the recording into a folder. Raises BadInput where it exists and is not empty."""
    make_folder(folder)
    one_line = {p: t for p, t in recording.files.items() if _is_one_line(p, t)}
    others = {p: t for p, t in recording.files.items() if p not in one_line}
    lines = "".join(f"{path}\t{one_line[path]}" for path in sorted(one_line)).encode()
    write_private(folder / LINES, lines.decode())
    for path, text in others.items():
        write_private(folder / FILES / path.removeprefix("/"), text)
    commands = []
    for number, command in enumerate(recording.commands, start=1):
        name = f"{number:02}-{PurePosixPath(command.argv[0]).name}.txt"
        write_private(folder / COMMANDS / name, command.stdout)
        commands.append(
            _Command(
                argv=command.argv,
                exit_code=command.exit_code,
                stdout=name,
                stdout_bytes=len(command.stdout.encode()),
                stderr=command.stderr,
            )
        )
    manifest = _Manifest(
        schema=SCHEMA,
        host=recording.host,
        lines_bytes=len(lines),
        files={path: len(text.encode()) for path, text in sorted(others.items())},
        globs=tuple(sorted(recording.globs)),
        names=tuple(sorted(recording.names - set(recording.files))),
        absent=tuple(sorted(recording.absent)),
        denied=tuple(sorted(recording.denied)),
        unreadable=tuple(sorted(recording.unreadable)),
        programs_missing=tuple(sorted(recording.programs_missing)),
        commands=tuple(commands),
    )
    write_private(folder / MANIFEST, readable_json(manifest.model_dump(mode="json", by_alias=True)))


def load(folder: Path) -> Recording:
    """Read a folder back. Raises BadInput that names every missing, truncated or unsafe file."""
    manifest = _manifest(folder)
    faults: list[str] = []
    recording = Recording(
        host=manifest.host,
        absent=set(manifest.absent),
        denied=set(manifest.denied),
        unreadable=set(manifest.unreadable),
        globs=set(manifest.globs),
        names=set(manifest.names),
        programs_missing=set(manifest.programs_missing),
    )
    lines = _checked(folder, LINES, manifest.lines_bytes, faults)
    for line in lines.split("\n")[:-1]:
        path, tab, text = line.partition("\t")
        if not tab:
            faults.append(f"{LINES}: {line[:60]!r} is not a path, a tab and a line")
        recording.files[path] = text + "\n"
    for path, size in manifest.files.items():
        name = f"{FILES}/{path.removeprefix('/')}"
        recording.files[path] = _checked(folder, name, size, faults)
    for command in manifest.commands:
        stdout = _checked(folder, f"{COMMANDS}/{command.stdout}", command.stdout_bytes, faults)
        recording.commands.append(
            RecordedCommand(command.argv, command.exit_code, stdout, command.stderr)
        )
    if faults:
        raise faulty_file(
            f"the recorded host {folder} is incomplete",
            faults,
            "Copy the folder again, or take it again with `wirespeed inspect --record DIR`.",
        )
    return recording


def _manifest(folder: Path) -> _Manifest:
    try:
        text = read_text_file(folder / MANIFEST)
    except (OSError, UnicodeDecodeError) as fault:
        raise BadInput(
            f"{folder} is not a recorded host: {MANIFEST} cannot be read ({_reason(fault)})",
            "Make one with `wirespeed inspect --record DIR`.",
        ) from fault
    try:
        return _Manifest.model_validate_json(text)
    except ValidationError as fault:
        raise faulty_file(
            f"{folder / MANIFEST} is not a recording of schema {SCHEMA}",
            faults_of(fault),
            "Take the recording again with this version of wirespeed.",
        ) from fault


def _checked(folder: Path, name: str, size: int, faults: list[str]) -> str:
    """Return a file's text if it is inside the folder and has its size; else note an error."""
    path = folder / name
    if ".." in PurePosixPath(name).parts or "\0" in name or not _inside(path, folder):
        faults.append(f"{name}: leads outside the folder")
        return ""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            faults.append(f"{name}: is no file")
            return ""
        if found.st_size != size or size > MAX_OCTETS:
            faults.append(f"{name}: {found.st_size} bytes, should be {size}, at most {MAX_OCTETS}")
            return ""
        content = path.read_bytes()
    except OSError as fault:
        faults.append(f"{name}: {_reason(fault)}")
        return ""
    if len(content) != size:
        faults.append(f"{name}: {len(content)} bytes, should be {size}")
        return ""
    return content.decode(errors="replace")


def _inside(path: Path, folder: Path) -> bool:
    """Return whether the path stays below the folder, with every symbolic link followed."""
    return path.resolve().is_relative_to(folder.resolve())


def _is_one_line(path: str, text: str) -> bool:
    return text.endswith("\n") and text.count("\n") == 1 and not set(path) & {"\t", "\n"}


def _reason(fault: OSError | UnicodeDecodeError) -> str:
    return (fault.strerror or str(fault)) if isinstance(fault, OSError) else "not UTF-8"


def known_paths(recording: Recording) -> Iterator[str]:
    """Yield every path that the recorded host is known to have."""
    yield from recording.files
    yield from recording.denied
    yield from recording.unreadable
    yield from recording.names
