# SPDX-License-Identifier: Apache-2.0
"""Options and arguments that several verbs share."""

from __future__ import annotations

from typing import Annotated

import typer

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        envvar="WIRESPEED_STORE",
        help="Where results are kept: a file (SQLite) or postgresql://user@host/database. "
        "Default: wirespeed/wirespeed.sqlite in the XDG data directory.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and only JSON, on stdout.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a key of the study, e.g. traffic.frame=128; vary.KEY=[...] varies it. "
        "Repeatable.",
    ),
]
QuickOption = Annotated[
    bool,
    typer.Option("--quick", help="The study's short form, as its table `quick` says."),
]
StudyArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="A shipped study's name, or a file.")
]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help='A run\'s id, or "latest".', show_default=False)
]
