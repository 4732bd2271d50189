# SPDX-License-Identifier: Apache-2.0
"""Check that the word list finds each of its words, and no part of another word."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

CHECK = runpy.run_path(str(Path(__file__).parents[3] / "setup" / "check_tree.py"))


@pytest.mark.parametrize(
    ("line", "use"),
    [
        ("One port besides.", "also, further, apart from"),
        ("A fault on purpose", "injected fault"),
        ("A Loud host", "noisy"),
        ("for so many days", "N"),
    ],
)
def test_check_tree_listed_word_is_reported_with_its_replacement(
    tmp_path: Path, line: str, use: str
) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"Good.\n{line}\n")
    [error] = CHECK["words_of"](path)
    assert error.startswith(f"{path}:2: ")
    assert error.endswith(f"write {use!r}")


@pytest.mark.parametrize("line", ["beside", "cloud", "indeed", "not so many", "as so far"])
def test_check_tree_other_word_is_accepted(tmp_path: Path, line: str) -> None:
    path = tmp_path / "page.md"
    path.write_text(line)
    assert CHECK["words_of"](path) == []
