# SPDX-License-Identifier: Apache-2.0
"""Check manual pages and completion against the command itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from wirespeed.cli.reference.completion import completions
from wirespeed.cli.reference.manual import manual_pages
from wirespeed.cli.reference.tree import entries


def _complete(folder: Path, line: str) -> list[str]:
    """Return what bash offers for the last word of the line."""
    script = folder / "wirespeed.bash"
    script.write_text(completions()[script.name], encoding="utf-8")
    asked = f'source "$0"; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); '
    asked += "_wirespeed; printf '%s\\n' \"${COMPREPLY[@]}\""
    done = subprocess.run(
        ["bash", "-c", asked, str(script)], check=True, capture_output=True, text=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("wirespeed doc", ["doctor"]),
        ("wirespeed study sh", ["show"]),
        ("wirespeed run quick", ["quickstart"]),
        ("wirespeed audit --fail", ["--fail-on"]),
        ("wirespeed fleet pairs wo", ["work"]),
    ],
)
def test_bash_completion_offers_the_words_of_the_command(
    tmp_path: Path, line: str, expected: list[str]
) -> None:
    assert _complete(tmp_path, line) == expected


def test_bash_completion_word_of_another_command_is_not_offered(tmp_path: Path) -> None:
    assert "--fail-on" not in _complete(tmp_path, "wirespeed inspect --f")


@pytest.mark.parametrize("name", ["wirespeed.bash", "_wirespeed", "wirespeed.fish"])
def test_completion_names_every_verb_and_option(name: str) -> None:
    text = completions()[name]
    for entry in entries():
        for word in entry.inner:
            assert word in text
        for option in entry.options:
            long = [each.removeprefix("--") for each in option.opts if each.startswith("--")]
            assert all(each in text for each in long), (entry.path, long)


def test_manual_pages_have_every_verb_with_its_options() -> None:
    pages = manual_pages()
    for entry in entries():
        page = pages[f"{'-'.join(entry.words[:2])}.1"]
        for option in entry.options:
            assert option.opts[0].replace("-", "\\-") in page, (entry.path, option.opts)


@pytest.mark.skipif(shutil.which("man") is None, reason="man-db is not installed")
def test_manual_pages_format_without_a_warning(tmp_path: Path) -> None:
    for name, text in manual_pages().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        said = subprocess.run(
            ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(tmp_path / name)],
            check=True, capture_output=True, text=True,
            env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        assert said.stderr == "", name
