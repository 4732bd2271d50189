# SPDX-License-Identifier: Apache-2.0
"""Name, tag and annotate runs. A run keeps its id, by which reports and logs know it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection, or_, select, update

from wirespeed.model.errors import BadInput
from wirespeed.model.input.text import LINE, NAME
from wirespeed.store.read import LATEST, run_id_of
from wirespeed.store.store import Store
from wirespeed.store.tables import RUNS

NO_LABELS: Mapping[str, Any] = {"name": None, "tags": None, "note": None}
_LONGEST_NOTE = 1000


def labels_of(connection: Connection, run_id: str) -> Mapping[str, Any]:
    """Return name, tags and note of a run as columns; NO_LABELS where it has none."""
    query = select(RUNS.c.name, RUNS.c.tags, RUNS.c.note).where(RUNS.c.id == run_id)
    row = connection.execute(query).first()
    return NO_LABELS if row is None else dict(row._mapping)


def rename_run(store: Store, named: str, name: str) -> str:
    """Give the run a name that verbs take in place of its id; return the id.

    Its own id as name takes the name away. Raises NoSuchRun, BadInput for a name that is taken.
    """
    run_id = run_id_of(store, named)
    if name != run_id:
        _check(name)
    with store.transaction() as connection:
        taken = select(RUNS.c.id).where(
            RUNS.c.id != run_id, or_(RUNS.c.id == name, RUNS.c.name == name)
        )
        if (other := connection.execute(taken).scalar()) is not None:
            raise BadInput(f"name {name!r}: run {other} has it", "Choose another name.")
        value = None if name == run_id else name
        connection.execute(update(RUNS).where(RUNS.c.id == run_id).values(name=value))
    return run_id


def tag_run(store: Store, named: str, tag: str) -> tuple[str, ...]:
    """Add a tag to the run; return all that it has. Raises NoSuchRun, BadInput."""
    _check(tag)
    return _retag(store, named, lambda tags: sorted({*tags, tag}))


def untag_run(store: Store, named: str, tag: str) -> tuple[str, ...]:
    """Take a tag from the run; return those that are left. Raises NoSuchRun, BadInput."""

    def without(tags: list[str]) -> list[str]:
        if tag not in tags:
            listed = ", ".join(tags) or "none"
            raise BadInput(f"run {named}: no tag {tag!r}", f"Its tags: {listed}.")
        return [one for one in tags if one != tag]

    return _retag(store, named, without)


def note_run(store: Store, named: str, text: str) -> str:
    """Keep a note of one line with the run, in place of an older one; return the run's id.

    An empty one takes the note away. Raises NoSuchRun, BadInput.
    """
    run_id = run_id_of(store, named)
    if not LINE.fits(text) or len(text) > _LONGEST_NOTE:
        raise BadInput(
            f"note: must be {LINE.wanted}, at most {_LONGEST_NOTE} characters", "Shorten it."
        )
    with store.transaction() as connection:
        connection.execute(update(RUNS).where(RUNS.c.id == run_id).values(note=text or None))
    return run_id


def _retag(store: Store, named: str, change: Callable[[list[str]], list[str]]) -> tuple[str, ...]:
    run_id = run_id_of(store, named)
    where = RUNS.c.id == run_id
    with store.transaction() as connection:
        query = select(RUNS.c.tags).where(where).with_for_update()
        tags = change(connection.execute(query).scalar_one() or [])
        connection.execute(update(RUNS).where(where).values(tags=tags))
    return tuple(tags)


def _check(word: str) -> None:
    if not NAME.fits(word) or word == LATEST:
        raise BadInput(
            f"{word!r}: must be {NAME.wanted}, at most {NAME.longest} characters, and not "
            f'"{LATEST}"',
            "E.g. before-upgrade.",
        )
