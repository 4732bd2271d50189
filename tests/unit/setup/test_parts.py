# SPDX-License-Identifier: Apache-2.0
"""Test setup/parts.py with a Makefile of its own."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

PARTS = Path(__file__).parents[3] / "setup/parts.py"
CODE = runpy.run_path(str(PARTS))
# `meets-a` waits for `meets-b`: both end only when they run at the same time.
MAKEFILE = """
good:
\t@echo good works
\t@echo '==== 3 passed in 0.01s ===='
bad:
\t@echo 'test result: FAILED. 1 passed; 2 failed'; exit 5
last:
\t@echo $(WORD) is last
meets-a:
\t@echo one >pipe
meets-b:
\t@read -r word <pipe; echo $$word came
above:
\t@$(PYTHON) $(PARTS) good , last
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def parts(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(folder, sys.executable, str(PARTS), *words)


def test_parts_one_fails_others_run_and_it_is_named(folder: Path) -> None:
    done = parts(folder, "good", "bad", ",", "last")
    assert done.returncode == 1
    assert "is last" in done.stdout
    table = done.stdout.split("== parts")[1].splitlines()
    assert [line.split()[:2] for line in table if " CPU s" in line] == [
        ["passed", "good"], ["FAILED", "bad"], ["passed", "last"],
    ]  # fmt: skip
    assert table[-1] == "== FAILED: bad"


def test_parts_closing_lines_are_repeated_at_the_end(folder: Path) -> None:
    table = parts(folder, "good", ",", "bad").stdout.split("== parts")[1]
    assert "==== 3 passed in 0.01s ====" in table
    assert "test result: FAILED. 1 passed; 2 failed" in table
    assert "good works" not in table


def test_parts_all_pass_exit_status_is_zero(folder: Path) -> None:
    done = parts(folder, "good")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "== all parts passed")


def test_parts_of_one_group_run_at_the_same_time(folder: Path) -> None:
    (folder / "pipe").unlink(missing_ok=True)
    subprocess.run(["mkfifo", folder / "pipe"], check=True)
    done = parts(folder, "meets-a", "meets-b")
    assert "one came" in done.stdout


def test_parts_below_make_with_jobs_keep_its_settings_and_take_none_of_its_slots(
    folder: Path,
) -> None:
    done = run(folder, "make", "-j4", "above", "WORD=set", f"PYTHON={sys.executable}",
               f"PARTS={PARTS}")  # fmt: skip
    assert "set is last" in done.stdout
    assert "jobserver" not in done.stdout + done.stderr


def test_budgets_slower_machine_get_more_seconds() -> None:
    text = "# comment\nreference 0.1\nbuilt 200\ntest-unit 300.5\n"
    found = CODE["budgets"](text, here_s=0.2)
    assert found == {"built": 400.0, "test-unit": 601.0}


@pytest.mark.parametrize(
    ("seconds", "end"),
    [(119.0, " of 100 s"), (121.0, " of 100 s  OVER BUDGET")],
    ids=["within 20%", "over"],
)
def test_line_marks_a_part_over_its_budget(seconds: float, end: str) -> None:
    outcome = CODE["Outcome"]("built", 0, seconds, 1.0, ())
    assert outcome.line(100.0).endswith(end)
    assert outcome.line(100.0).startswith("  passed  built")
    assert "of" not in outcome.line(None)


def test_budget_file_names_the_parts_of_make_test() -> None:
    makefile = (PARTS.parents[1] / "Makefile").read_text(encoding="utf-8")
    listed = makefile.split("TEST_PARTS :=")[1].split("\n\n")[0]
    parts_of_test = {word for word in listed.split() if word not in (",", "\\")}
    written = CODE["budgets"](CODE["BUDGET"].read_text(encoding="utf-8"), here_s=1.0)
    assert written.keys() == parts_of_test
