# SPDX-License-Identifier: Apache-2.0
"""Check what a start of the command imports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping

import pytest

from tests.unit.cli.every_verb import every_command
from wirespeed.cli.command_kinds import VerbGroup
from wirespeed.cli.commands.command import VERBS

HEAVY = ("numpy", "sqlalchemy", "alembic", "openstack", "jinja2", "scipy")
TO_MEASURE = ("wirespeed.bench", "wirespeed.measure", "wirespeed.study")
PROGRAM = """
import sys
sys.argv = ["wirespeed", *sys.argv[1:]]
from wirespeed.cli.main import main
try:
    main()
finally:
    print("\\nMODULES", *sys.modules)
"""


def imported(*words: str) -> set[str]:
    """Return the packages and modules that are imported once the command has ended."""
    argv = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("MODULES")[2].split())


def test_version_imports_no_package_but_ours() -> None:
    assert not imported("--version") & {*HEAVY, "pydantic", "rich", "typer"}


HELPS = ("--help", "-h", "inspect --help", "fleet --help", "fleet pairs --help")


@pytest.mark.parametrize("words", HELPS)
def test_help_imports_neither_database_nor_numpy(words: str) -> None:
    assert not imported(*words.split()) & set(HEAVY)


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        ("audit --list", HEAVY),
        ("fleet hosts --help", ("alembic", "jinja2", "numpy", *TO_MEASURE)),
        ("explain --help", ("alembic", "jinja2", *TO_MEASURE)),
        ("report --help", ("alembic", *TO_MEASURE)),
        ("runs list --help", ("alembic", "jinja2", "numpy", *TO_MEASURE)),
    ],
)
def test_verb_imports_only_what_it_needs(words: str, unneeded: tuple[str, ...]) -> None:
    assert not imported(*words.split()) & set(unneeded)


def summaries(verbs: Mapping[str, tuple[str, str] | VerbGroup]) -> Iterator[tuple[str, ...]]:
    """Yield the words of each verb, then its summary in the tables."""
    for name, verb in verbs.items():
        if isinstance(verb, VerbGroup):
            yield from ((name, *each) for each in summaries(verb.verbs))
        else:
            yield name, verb[1]


@pytest.mark.parametrize("words", tuple(summaries(VERBS)), ids=lambda words: " ".join(words[:-1]))
def test_summary_of_every_verb_is_the_verbs_own(words: tuple[str, ...]) -> None:
    *path, summary = words
    own = every_command()[tuple(path)].help.split("\n\n")[0]
    assert " ".join(own.split()) == summary
