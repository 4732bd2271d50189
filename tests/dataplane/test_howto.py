# SPDX-License-Identifier: Apache-2.0
"""Check that the task of docs/howto/add-a-task.md builds and passes its own test."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tests.dataplane.program import REPOSITORY


def test_the_howto_s_task_builds_and_passes(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "howto" / "add-a-task.md").read_text()
    task, test = re.findall(r"^```c\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    tree = tmp_path / "dataplane"
    shutil.copytree(REPOSITORY / "dataplane", tree)
    (tree / "tasks" / "ttl.c").write_text(task)
    (tree / "tests" / "test_ttl.c").write_text(test)
    for file, old, new in [
        (tree / "tasks" / "meson.build", "  'io.c',\n", "  'io.c',\n  'ttl.c',\n"),
        (tree / "tests" / "meson.build", "foreach name : [", "foreach name : ['ttl', "),
    ]:
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))
    build = tmp_path / "build"
    for command in (
        ["meson", "setup", build, tree, "-Doptimization=0"],
        ["ninja", "-C", build, "tests/test_ttl"],
        [build / "tests" / "test_ttl"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
