# SPDX-License-Identifier: Apache-2.0
"""Write and read the lines that a sampler hands to its recorder: JSON, one object a line.

A layout names the series of a source in the order of the values of the reads that follow.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from wirespeed.kpi.interface import KpiError, Name
from wirespeed.model.input.bounded import load_json


@dataclass(frozen=True, slots=True)
class Layout:
    source: str
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    source: str
    begin_ns: int
    took_ns: int
    epoch: str
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Note:
    at_ns: int
    text: str


Frame = Layout | Sample | Note


def written(frame: Frame) -> bytes:
    """Return the line of a frame, with its line end."""
    match frame:
        case Layout():
            words: list[object] = ["layout", frame.source, frame.names]
        case Sample():
            words = ["read", frame.source, frame.begin_ns, frame.took_ns, frame.epoch, frame.values]
        case Note():
            words = ["note", frame.at_ns, frame.text]
    return json.dumps(words, separators=(",", ":")).encode() + b"\n"


def parsed(line: bytes) -> Frame:
    """Return the frame of a line. Raises KpiError for another text."""
    try:
        match load_json(line):
            case ["layout", str(source), list(names)]:
                return Layout(source, tuple((key, tuple(labels)) for key, labels in names))
            case ["read", str(source), int(begin), int(took), str(epoch), list(values)]:
                return Sample(source, begin, took, epoch, tuple(values))
            case ["note", int(at), str(text)]:
                return Note(at, text)
    except (ValueError, TypeError) as fault:
        raise KpiError(f"the sampler wrote no frame: {fault}: {line[:80]!r}") from fault
    raise KpiError(f"the sampler wrote no frame: {line[:80]!r}")
