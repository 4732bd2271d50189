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
        ("It lies beside it.", "next to, compared with"),
        ("an undisturbed window", "clean"),
        ("A disturbed window", "noisy"),
        ("Users are told.", "reported, given, printed"),
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


@pytest.mark.parametrize(
    "line", ["cloud", "indeed", "not so many", "as so far", "`undisturbed` in JSON", "{{ told }}"]
)
def test_check_tree_other_word_is_accepted(tmp_path: Path, line: str) -> None:
    path = tmp_path / "page.md"
    path.write_text(line)
    assert CHECK["words_of"](path) == []


def words_in(tmp_path: Path, name: str, text: str) -> list[str]:
    """Return the errors of a file, without its path."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return [error.removeprefix(f"{path}:").partition(":")[0] for error in CHECK["words_of"](path)]


def test_check_tree_words_of_python_are_found_in_prose_alone(tmp_path: Path) -> None:
    code = 'told = {"told": 1}\n\n\ndef f() -> str:\n    """Be told."""\n    # told\n'
    assert words_in(tmp_path, "a.py", code + "    return f'not told {told}'\n") == ["5", "6", "7"]


def test_check_tree_words_of_tests_are_found_in_docstrings_comments_and_names(
    tmp_path: Path,
) -> None:
    code = 'def test_it_is_told() -> None:\n    """Be told."""\n    assert f("be told")\n'
    assert words_in(tmp_path, "tests/test_a.py", code) == ["1", "2"]


def test_check_tree_words_of_c_and_toml_are_found_in_comments_and_strings(tmp_path: Path) -> None:
    c = 'int told; /* is\n told */\nputs("told");\n// told'
    assert words_in(tmp_path, "a.c", c) == ["2", "4"]
    toml = 'told = "told"\nwhy = "be told"\n# told'
    assert words_in(tmp_path, "a.toml", toml) == ["2", "3"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("tests/test_a.py", "def test_what_it_does() -> None: ..."),
        ("a.rs", "    fn who_is_refused() {"),
        ("benchmarks/a.py", "from tests.unit.plan import x"),
    ],
)
def test_check_tree_question_or_import_of_unit_tests_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{line}\n")
    [error] = CHECK["names_of"](path)
    assert error.startswith(f"{name}:1: ")
    path.write_text("def test_whole_trials_count() -> None: ...\n")
    assert CHECK["names_of"](path) == []
