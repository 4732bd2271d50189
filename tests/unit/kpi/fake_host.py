# SPDX-License-Identifier: Apache-2.0
"""Stand in for a host whose files are texts, as recorded from a real one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any, cast

from wirespeed.kpi.interface import Collector, Missing, Name
from wirespeed.remote.interface import Runner

BOOT = {"/proc/sys/kernel/random/boot_id": "5d0a-boot\n"}


@dataclass
class FakeHost:
    """Files by path; others are absent."""

    files: dict[str, str] = field(default_factory=dict)
    name: str = "host"

    def read(self, path: str) -> str:
        if path not in self.files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return self.files[path]

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        found: dict[str, str | OSError] = {}
        for path in paths:
            try:
                found[path] = self.read(path)
            except OSError as fault:
                found[path] = fault
        return found

    def glob(self, *patterns: str) -> tuple[str, ...]:
        return tuple(
            sorted(path for path in self.files if any(_matches(path, each) for each in patterns))
        )

    def run(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("no collector of files starts a program")


def _matches(path: str, pattern: str) -> bool:
    """Return whether a path matches; no star stands for a slash."""
    return path.count("/") == pattern.count("/") and fnmatch(path, pattern)


def read(collector: Collector, files: dict[str, str]) -> tuple[str, dict[Name, int]]:
    """Return the epoch and the values of a collector's only source."""
    found = collector.probe(cast(Runner, FakeHost({**BOOT, **files})))
    assert not isinstance(found, Missing), found
    [source] = found
    values = source.read()
    return values.epoch, dict(values.values)


def missing(collector: Collector, files: dict[str, str]) -> str:
    """Return why a collector has nothing to read."""
    found = collector.probe(cast(Runner, FakeHost({**BOOT, **files})))
    assert isinstance(found, Missing)
    return found.because
