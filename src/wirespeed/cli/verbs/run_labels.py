# SPDX-License-Identifier: Apache-2.0
"""Name, tag and annotate runs (`wirespeed runs rename`, `tag`, `note`)."""

from __future__ import annotations

from typing import Annotated

import typer

from wirespeed.cli.console import print_line
from wirespeed.cli.input.options import RunArgument, StoreOption
from wirespeed.store.labels import note_run, rename_run, tag_run, untag_run
from wirespeed.store.store import Store


def rename(
    run: RunArgument,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="New name; give the run's id to remove it.")
    ],
    *,
    store: StoreOption = None,
) -> None:
    """Name a run; every verb accepts the name instead of the id, which stays valid."""
    with Store(store, exists=True) as opened:
        run_id = rename_run(opened, run, name)
    print_line(f"Run {run_id} is named {name}." if name != run_id else f"Run {run_id} has no name.")


def tag(
    run: RunArgument,
    word: Annotated[str, typer.Argument(metavar="TAG", help="A word, e.g. release-2.")],
    *,
    remove: Annotated[bool, typer.Option("--remove", help="Take the tag away instead.")] = False,
    store: StoreOption = None,
) -> None:
    """Add a tag to a run; `wirespeed runs --tag TAG` lists those that have it."""
    with Store(store, exists=True) as opened:
        tags = untag_run(opened, run, word) if remove else tag_run(opened, run, word)
    print_line(f"Tags of run {run}: {', '.join(tags) or 'none'}.")


def note(
    run: RunArgument,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help='One line, in quotes; "" removes the note.')
    ],
    *,
    store: StoreOption = None,
) -> None:
    """Store a note with a run and replace an older one; `wirespeed runs` shows it."""
    with Store(store, exists=True) as opened:
        run_id = note_run(opened, run, text)
    print_line(f"Run {run_id} has the note." if text else f"Run {run_id} has no note.")
