# SPDX-License-Identifier: Apache-2.0
"""Check that the documentation matches the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.text import Text

from tests.unit.cli.every_verb import every_command
from wirespeed.bench.topology import TOPOLOGIES
from wirespeed.cli.reference.pages import PAGES
from wirespeed.cli.reference.study_file import study_page
from wirespeed.study.keys import parameter_keys
from wirespeed.study.shipped import shipped_names

ROOT = Path(__file__).parents[3]
PROSE = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_reference_is_what_the_code_says(name: str) -> None:
    written = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "run `make docs`"


def test_every_study_key_is_documented() -> None:
    page = study_page()
    for key in parameter_keys():
        section, _, name = key.rpartition(".")
        after = page.partition(f"## [{section}]\n")[2]
        (row,) = re.findall(rf"^\| `{name}` \|.*\|$", after.partition("\n## ")[0], re.MULTILINE)
        assert not row.endswith("|  |"), f"{key} has no sentence below it in model/study/spec.py"


def test_every_option_says_what_it_does() -> None:
    for path, command in every_command().items():
        assert command.help, path
        for parameter in command.params:
            assert getattr(parameter, "help", None), (path, parameter.name)


def test_no_help_has_brackets_that_the_terminal_takes_for_markup() -> None:
    for path, command in every_command().items():
        helps = [command.help, *(getattr(each, "help", "") for each in command.params)]
        assert [Text.from_markup(text).plain for text in helps] == helps, path


def uses(text: str) -> list[str]:
    """Return every use of the command in code spans and blocks."""
    spans = re.findall(r"`(wirespeed [^`\n]*)`", text)
    lines = re.findall(r"^\s*(?:\$ |sudo |\.venv/bin/|.*&& (?:\.venv/bin/)?)?(wirespeed [a-z].*)$",
                       "\n".join(re.findall(r"```(?:sh|console)?\n(.*?)```", text, re.DOTALL)),
                       re.MULTILINE)  # fmt: skip
    return spans + lines


@pytest.mark.parametrize("page", PROSE, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_in_the_documents_exists(page: Path) -> None:
    known = every_command()
    for use in uses(page.read_text(encoding="utf-8")):
        words = use.split(" #")[0].split()[1:]
        path: tuple[str, ...] = ()
        while words and (*path, words[0]) in known:
            path = (*path, words.pop(0))
        assert path or not words or words[0].startswith("-"), use
        # A group may have a default verb, as `plan` has `make`.
        below = [command for other, command in known.items() if other[: len(path)] == path and path]
        options = {o for c in (known[path], *below) for p in c.params for o in p.opts} | {"--help"}
        used = {word.split("=")[0].strip("[],.") for word in words if word.startswith("--")}
        assert used <= options, use


def test_the_readme_knows_every_topology_and_search() -> None:
    from wirespeed.model.study.spec import SearchKind

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for kind in (*(topology.name for topology in TOPOLOGIES), *SearchKind):
        assert f"| `{kind}`" in readme, kind


def test_shipped_studies_explain_themselves() -> None:
    page = study_page()
    for name in shipped_names():
        assert f"### {name}\n" in page
