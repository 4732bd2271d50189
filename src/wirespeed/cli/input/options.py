# SPDX-License-Identifier: Apache-2.0
"""Define options and arguments that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        envvar="WIRESPEED_STORE",
        help="Database of results: an SQLite file or postgresql://user@host/database. "
        "Default: ~/.local/share/wirespeed/wirespeed.sqlite (XDG_DATA_HOME).",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, and nothing else.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a key of the study, e.g. traffic.frame=128, or vary it, e.g. "
        "vary.traffic.frame=[64,512]. Repeatable.",
    ),
]
QuickOption = Annotated[
    bool,
    typer.Option("--quick", help="Run the study's short form: fewer points, shorter trials."),
]
StudyArgument = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A shipped study (`wirespeed study list`) or a TOML file, e.g. ./my.toml.",
    ),
]
RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help='Id or name of a run (`wirespeed runs`), or "latest".',
        show_default=False,
    ),
]
ThresholdOption = Annotated[
    list[str] | None,
    typer.Option(
        "--threshold",
        metavar="TEXT",
        help='Exit with 1 where a point misses it, e.g. "p2p, 64 B: ndr >= 5e6"; "*" for every '
        "point. ndr, pdr, mrr in frames/s; p50, p99 in µs at half the PDR, of clean "
        "time where it is known; grade >= B. Repeatable.",
    ),
]
JunitOption = Annotated[
    Path | None,
    typer.Option(
        "--junit", metavar="FILE", help="Also write a JUnit report: a test case for each point."
    ),
]
