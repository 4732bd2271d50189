# SPDX-License-Identifier: Apache-2.0
"""Check what a start of the command imports."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.unit.cli.every_verb import every_command
from wirespeed.cli.command import VERBS

HEAVY = ("numpy", "sqlalchemy", "alembic", "openstack", "jinja2", "scipy")
PROGRAM = """
import sys
sys.argv = ["wirespeed", *sys.argv[1:]]
from wirespeed.cli.main import main
try:
    main()
finally:
    print("\\nMODULES", *{name.partition(".")[0] for name in sys.modules})
"""


def imported(*words: str) -> set[str]:
    """Return the packages that are imported once the command has ended."""
    argv = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("MODULES")[2].split())


def test_version_imports_no_package_but_ours() -> None:
    assert not imported("--version") & {*HEAVY, "pydantic", "rich", "typer"}


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["inspect", "--help"]], ids=" ".join)
def test_help_imports_neither_database_nor_numpy(words: list[str]) -> None:
    assert not imported(*words) & set(HEAVY)


def test_summary_of_every_verb_is_the_verbs_own() -> None:
    for name, (_, summary) in VERBS.items():
        own = every_command()[(name,)].help.split("\n\n")[0]
        assert " ".join(own.split()) == summary, name
