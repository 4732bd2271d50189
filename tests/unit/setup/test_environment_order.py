# SPDX-License-Identifier: Apache-2.0
"""Run the Makefile in a fresh clone, with doubles of the programs that install and build.

A double notes when a second one changes the same thing before it has ended.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
COPIED = ("Makefile", "setup", "pyproject.toml")
# change THING: log the words; hold THING for a moment, and log a race if it is already held.
CHANGE = """#!/bin/sh
change() {
	echo "$*" >>"$LOG"
	mkdir "$HELD/$1" 2>/dev/null || echo "race $*" >>"$LOG"
	sleep 0.2
	rmdir "$HELD/$1" 2>/dev/null
}
"""
PYTHON = f"""case "$*" in
"-m venv "*)
	change "venv$3" venv
	mkdir -p "$3/bin"
	cp "$DOUBLES/python3" "$3/bin/python"
	cp "$DOUBLES/in-venv" "$3/bin/pip"
	for name in wirespeed pytest ruff mypy lint-imports mkdocs; do
		cp "$DOUBLES/none" "$3/bin/$name"
	done ;;
*setup/parts.py*) exec {sys.executable} "$@" ;;
esac"""
PIP = 'folder=${0%/bin/*}; change "venv${folder##*/}" pip "$*"'
MESON = """[ "$1" = setup ] || exit 0
for word; do case "$word" in build/*) folder=$word ;; esac; done
change "$(basename "$folder")" setup
mkdir -p "$folder" && touch "$folder/build.ninja"
"""
NINJA = 'change "$(basename "$2")" ninja'
DOUBLES = {
    "python3": PYTHON, "in-venv": PIP, "meson": MESON, "ninja": NINJA, "none": "",
    "cargo": "", "npm": "", "clang-format": "", "shellcheck": "",
    "dpkg-query": "echo 'install ok installed 1:99'",
}  # fmt: skip


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Provide a fresh clone, in a folder next to the doubles."""
    made, doubles = tmp_path / "clone", tmp_path / "doubles"
    for folder in (made, doubles, tmp_path / "held"):
        folder.mkdir()
    for name in COPIED:
        source = REPOSITORY / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, made / name)
    (made / "speedtest/fuzz").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet"], cwd=made, check=True)
    for name, text in DOUBLES.items():
        (doubles / name).write_text(f"{CHANGE}{text}\n")
        (doubles / name).chmod(0o755)
    return made


def make(clone: Path, *words: str) -> list[str]:
    """Return the log of the doubles."""
    beside = clone.parent
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment = plain | {
        "PATH": f"{beside / 'doubles'}:{os.environ['PATH']}",
        "LOG": str(beside / "log"),
        "HELD": str(beside / "held"),
        "DOUBLES": str(beside / "doubles"),
    }
    done = subprocess.run(
        ["make", *words], cwd=clone, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return (beside / "log").read_text().splitlines()


@pytest.mark.parametrize(
    "targets",
    [("test",), ("-j16", "test"), ("-j16", "test", "lint", "demo")],
    ids=" ".join,
)
def test_makefile_fresh_clone_never_changes_one_thing_twice_at_once(
    clone: Path, targets: tuple[str, ...]
) -> None:
    noted = make(clone, *targets)
    assert [line for line in noted if line.startswith("race")] == []
    assert any(line.startswith("venv.venv pip") for line in noted)
    assert any(line.startswith("dataplane ") for line in noted)


@pytest.mark.parametrize("target", ["test", "lint"])
def test_makefile_one_command_installs_each_thing_once(clone: Path, target: str) -> None:
    noted = make(clone, "-j16", target)
    changed = Counter(line for line in noted if " ninja" not in line)
    assert set(changed.values()) == {1}, changed
