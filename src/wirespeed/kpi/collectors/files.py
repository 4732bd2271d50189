# SPDX-License-Identifier: Apache-2.0
"""Read files of the kernel as one source: the same paths each time, an epoch that is the boot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.kpi.interface import Missing, Name, Source, Values
from wirespeed.remote.interface import Runner

BOOT_ID = "/proc/sys/kernel/random/boot_id"
# Content by path, of the files that could be read.
Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FileSource:
    """Files whose counters `parse` returns."""

    name: str
    runner: Runner
    paths: Sequence[str]
    parse: Callable[[Texts], Mapping[Name, int]]
    epoch: str

    def read(self) -> Values:
        found = self.runner.read_many(self.paths)
        texts = {path: text for path, text in found.items() if isinstance(text, str)}
        if not texts:
            raise next(error for error in found.values() if isinstance(error, OSError))
        return Values(self.epoch, self.parse(texts))

    def close(self) -> None: ...


def file_source(
    name: str,
    runner: Runner,
    paths: Sequence[str],
    parse: Callable[[Texts], Mapping[Name, int]],
) -> Sequence[Source] | Missing:
    """Return the source of those files that can be read, or which one cannot."""
    found = runner.read_many([*paths, BOOT_ID])
    epoch = found.pop(BOOT_ID)
    there = [path for path, text in found.items() if isinstance(text, str)]
    if not there:
        first = next(iter(paths), "")
        return Missing(f"{first or name}: {found.get(first, 'no such file')}")
    boot = epoch.strip() if isinstance(epoch, str) else "boot"
    return (FileSource(name, runner, there, parse, boot),)
