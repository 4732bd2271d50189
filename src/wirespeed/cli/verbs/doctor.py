# SPDX-License-Identifier: Apache-2.0
"""wirespeed doctor: show what works here, and what is missing for the rest."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict
from typing import Annotated

import typer

from wirespeed.cli.console import print_json, print_line
from wirespeed.cli.input.abilities import Ability, Where, abilities
from wirespeed.cli.input.options import JsonOption
from wirespeed.remote.local import LocalRunner


def doctor(
    studies: Annotated[
        list[str] | None,
        typer.Argument(metavar="[STUDY]...", help="Check these studies alone. Default: all verbs."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show what works here; for the rest, the package, flag or setting that is missing.

    Changes nothing and needs no root. Ends with 1 when something is missing.
    """
    where, found = abilities(LocalRunner(), studies or ())
    if json:
        print_json(json_text.dumps(_document(where, found), indent=1))
    else:
        _print(where, found)
    if any(each.lacks for each in found):
        raise typer.Exit(1)


def _document(where: Where, found: tuple[Ability, ...]) -> dict[str, object]:
    """Return the place, and each ability with its errors."""
    return {
        "place": asdict(where),
        "abilities": [
            {
                "name": each.name,
                "works": not each.lacks,
                "lacks": [{"what": one.what, "next_step": one.next_step} for one in each.lacks],
            }
            for each in found
        ],
    }


def _print(where: Where, found: tuple[Ability, ...]) -> None:
    container = ", in a container" if where.container else ""
    print_line(
        f"{where.system}, Python {where.python}, user {where.user}{container}, {where.cpus} CPUs"
    )
    for each in found:
        print_line(f"{'missing' if each.lacks else 'works':8} {each.name}")
        for one in each.lacks:
            print_line(" " * 9 + " ".join(f"{one.what}. {one.next_step}".split()))
