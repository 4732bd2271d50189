# SPDX-License-Identifier: Apache-2.0
"""Check that the task of docs/howto/add-a-task.md builds and passes its own test."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tests.dataplane.program import REPOSITORY, WSDP


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
    build = tmp_path / "build" / "dataplane"
    run("meson", "setup", build, tree)
    copy_objects(WSDP.parent, build)
    run("ninja", "-C", build, "tests/test_ttl")
    run(build / "tests" / "test_ttl")


def copy_objects(built: Path, build: Path) -> None:
    """Copy what the tree's own build compiled, so that ninja compiles only the task and its test.

    Ninja compares commands and times, and compiles again what another build differs in.
    """
    logs = (built / ".ninja_log", built / ".ninja_deps")
    for file in (*logs, *built.rglob("*.o"), *built.rglob("*.a")):
        target = build / file.relative_to(built)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target)


def run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
