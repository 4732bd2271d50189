# SPDX-License-Identifier: Apache-2.0
"""Write a wirespeed command as typed in a shell, for hints that must work as printed."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlalchemy import make_url

from wirespeed.store.url import shown_url


def typed(*words: str, **options: object) -> str:
    """Return `wirespeed WORDS --OPTION VALUE`, quoted for a POSIX shell.

    options: None and False are dropped; True is a flag; a tuple repeats its option. store: its
    password is dropped.
    """
    line = ["wirespeed", *words]
    for name, values in options.items():
        for value in values if isinstance(values, tuple) else (values,):
            if value is None or value is False:
                continue
            line.append(f"--{name.replace('_', '-')}")
            if value is not True:
                line.append(_without_password(str(value)) if name == "store" else str(value))
    return shlex.join(line)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of `wirespeed run` that a run does not store and that its continuation needs."""

    lab: Path | None = None
    fence: int | None = None
    store: str | None = None
    html: Path | None = None
    junit: Path | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    require_grade: str | None = None
    require_placement: bool = False
    threshold: tuple[str, ...] = ()
    kpi: bool = False
    kpi_rate: float | None = None

    def resume(self, run_id: str) -> str:
        """Return the command that continues the run."""
        return typed("run", run_id, "--resume", **asdict(self))


def _without_password(store: str) -> str:
    if "://" not in store or not make_url(store).password:
        return store
    return shown_url(make_url(store))
