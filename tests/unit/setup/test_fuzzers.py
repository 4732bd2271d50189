# SPDX-License-Identifier: Apache-2.0
"""Test that the data plane's fuzzers are built in any order of installation, or reported."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
FUZZ = REPOSITORY / "dataplane" / "fuzz"
# Tools of a build other than clang.
TOOLS = ("cc", "gcc", "ar", "ld", "as", "meson", "ninja", "find", "mkdir", "sh", "env", "python3")


@pytest.fixture
def without_clang(tmp_path: Path) -> dict[str, str]:
    """Provide an environment whose PATH has every build tool except clang."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    return {"PATH": str(tools), "HOME": str(tmp_path)}


def meson(environment: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        ["meson", *words], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_fuzzers_configured_before_clang_are_all_tests(
    without_clang: dict[str, str], tmp_path: Path
) -> None:
    build = str(tmp_path / "build")
    meson(without_clang, "setup", "-Dpktlib_only=true", build, str(REPOSITORY / "dataplane"))
    names = {
        test["name"] for test in json.loads(meson(without_clang, "introspect", "--tests", build))
    }
    with_libraries = {"fuzz_ini", "fuzz_fib", "fuzz_netlink"}
    assert {path.stem for path in FUZZ.glob("fuzz_*.c")} - with_libraries <= names
    ninja = ["ninja", "-C", build, "fuzz/fuzz_udp"]
    tried = subprocess.run(ninja, env=without_clang, capture_output=True, text=True, check=False)
    assert tried.returncode != 0
    assert "clang: not installed; the fuzzers need it: apt-get install clang" in tried.stdout
    subprocess.run(ninja, env=dict(os.environ), check=True)


def test_fuzzers_every_target_has_a_corpus() -> None:
    targets = {path.stem.removeprefix("fuzz_") for path in FUZZ.glob("fuzz_*.c")}
    assert targets == {path.name for path in (FUZZ / "corpus").iterdir() if any(path.iterdir())}
