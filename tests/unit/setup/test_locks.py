# SPDX-License-Identifier: Apache-2.0
"""Plant errors in lock files; compare this project's locks with pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from setup import check_locks
from setup.check_locks import Allowed, accepted, cargo_errors, locked, pip_errors, wanted

ROOT = Path(__file__).parents[3]
PROJECT = """
[build-system]
requires = ["hatchling"]
[project]
dependencies = ["numpy>=2"]
[project.optional-dependencies]
dev = ["pytest[colour]>=9"]
postgresql = []
nova = []
[dependency-groups]
build = ["hatchling>=1"]
lock = ["uv>=1"]
"""
HASHES = f" \\\n    --hash=sha256:{'0' * 64} \\\n    --hash=sha256:{'1' * 64}\n"
RUN, BUILD = f"numpy==2.4{HASHES}", f"hatchling==1.3{HASHES}"
LOCKS = {
    "run": RUN,
    "build": BUILD,
    "dev": RUN + BUILD + f"pytest==9.2{HASHES}pluggy==1.7{HASHES}colour==1.0{HASHES}",
    "nova": RUN + BUILD,
    "lock": f"uv==1.0{HASHES}",
}
METADATA = {
    "numpy": ("2.4", "License-Expression: BSD-3-Clause AND MIT"),
    "hatchling": ("1.3", "License-Expression: MIT"),
    "pytest": (
        "9.2",
        "License-Expression: MIT\nProvides-Extra: colour\nRequires-Dist: pluggy>=1.5\n"
        "Requires-Dist: colour; extra == 'colour'\nRequires-Dist: tomli; python_version < '3.11'",
    ),
    "pluggy": ("1.7", "Classifier: License :: OSI Approved :: MIT License"),
    "colour": ("1.0", "License: MIT"),
}
LICENCES = {"MIT", "BSD-3-Clause", "MIT License"}
CRATE = {"source": check_locks.REGISTRY, "checksum": "0" * 64}
CRATES = [
    {"name": "speedtest-proto", "version": "0.1.0"},
    {"name": "bytes", "version": "1.0.0", **CRATE},
    {"name": "rand", "version": "0.9.5", **CRATE},
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Provide five valid locks, and the environments that were made from them."""
    (tmp_path / "setup/locks").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    for name, text in LOCKS.items():
        (tmp_path / f"setup/locks/{name}.txt").write_text(text)
    for environment in (".venv", ".venv-nova"):
        for name, (version, words) in METADATA.items():
            made = (
                tmp_path / environment / f"lib/python3.11/site-packages/{name}-{version}.dist-info"
            )
            made.mkdir(parents=True)
            (made / "METADATA").write_text(
                f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{words}\n"
            )
    return tmp_path


def errors(project: Path, allowed: Allowed | None = None) -> list[str]:
    return list(pip_errors(project, allowed or Allowed(LICENCES, {}, {})))


def test_pip_locks_sound_ones_have_no_error(project: Path) -> None:
    assert errors(project) == []


@pytest.mark.parametrize(
    ("lock", "was", "becomes", "error"),
    [
        ("run", HASHES, "\n", "numpy: has no SHA-256"),
        ("run", "sha256:0", "md5:0", "numpy: has no SHA-256"),
        ("lock", HASHES, "\n", "uv: has no SHA-256"),
        ("run", "numpy==2.4", "numpy>=2.4", "numpy: has no single version"),
        ("run", "numpy==2.4", "numpy==2.*", "numpy: has no single version"),
        ("run", "numpy==2.4", "numpy @ file:///tmp/numpy.whl", "numpy: has no single version"),
        ("run", RUN, f"--index-url x\n{RUN}", "--index-url x: not a package"),
        ("run", RUN, RUN + RUN, "numpy: is there twice"),
        ("run", RUN, "", "numpy: pyproject.toml requires it on Python 3.13"),
        ("run", "2.4", "2.4 ; python_version < '3.13'", "numpy: pyproject.toml requires it"),
        ("dev", f"pluggy==1.7{HASHES}", "", "pluggy: pytest requires it on Python 3.11"),
        ("dev", f"colour==1.0{HASHES}", "", "colour: pytest requires it on Python 3.11"),
        ("build", BUILD, "", "hatchling: pyproject.toml requires it"),
        ("run", RUN, RUN + BUILD, "hatchling: nothing requires it"),
        ("run", "numpy==2.4", "numpy==2.5", ".venv: not installed as locked: numpy 2.5;"),
        (
            "nova",
            RUN,
            f"{RUN}left-pad==1.0{HASHES}",
            ".venv-nova: not installed as locked: left-pad",
        ),
    ],
)
def test_pip_locks_planted_fault_is_named(
    project: Path, lock: str, was: str, becomes: str, error: str
) -> None:
    path = project / f"setup/locks/{lock}.txt"
    text = path.read_text()
    assert was in text
    path.write_text(text.replace(was, becomes, 1))
    assert [e for e in errors(project) if e.startswith(f"setup/locks/{lock}.txt: {error}")]


@pytest.mark.parametrize(("was", "becomes"), [("numpy>=2", "numpy>=3"), ("pytest[colour]", "uv")])
def test_pip_locks_pyproject_changed_without_them_is_an_error(
    project: Path, was: str, becomes: str
) -> None:
    path = project / "pyproject.toml"
    path.write_text(path.read_text().replace(was, becomes, 1))
    assert any("pyproject.toml requires" in error for error in errors(project))


@pytest.mark.parametrize(
    "words", ["License-Expression: GPL-3.0-only", "License-Expression: MIT AND GPL-3.0-only", ""]
)
def test_pip_locks_other_licence_is_an_error(project: Path, words: str) -> None:
    found = next(project.glob(".venv/lib/*/*/numpy-*/METADATA"))
    found.write_text(f"Metadata-Version: 2.4\nName: numpy\nVersion: 2.4\n{words}\n")
    assert any("run.txt: numpy: its licence is" in error for error in errors(project))


def test_allowed_exception_holds_for_its_licence_alone_and_unused_is_an_error(
    project: Path,
) -> None:
    found = next(project.glob(".venv/lib/*/*/numpy-*/METADATA"))
    found.write_text("Metadata-Version: 2.4\nName: numpy\nVersion: 2.4\nLicense: GPL-2.0-only\n")
    exceptions = {"numpy": {"licence": "GPL-2.0-only", "because": "a test"}}
    allowed = Allowed(LICENCES, exceptions, {"rand": "no crate needs it"})
    assert errors(project, allowed) == []
    assert [error.split(": ")[1] for error in allowed.unused()] == ["rand"]
    exceptions["numpy"]["licence"] = "GPL-3.0-only"
    assert errors(project, Allowed(LICENCES, exceptions, {})) != []


@pytest.mark.parametrize(
    ("expression", "is_accepted"),
    [
        ("MIT", True),
        ("GPL-3.0-only OR MIT", True),
        ("Apache-2.0/MIT", True),
        ("MIT AND (BSD-3-Clause OR GPL-3.0-only)", True),
        ("MIT License", True),
        ("Apache-2.0 WITH LLVM-exception OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT WITH LLVM-exception", False),
        ("no licence", False),
        ("MIT AND", False),
        ("", False),
    ],
)
def test_licence_expression_is_accepted_by_its_parts(expression: str, is_accepted: bool) -> None:
    assert accepted(expression, LICENCES) is is_accepted


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a workspace of one crate, and cargo's answer on its lock."""
    made = tmp_path / "speedtest"
    (made / "proto").mkdir(parents=True)
    (made / "proto/Cargo.toml").write_text('[package]\nname = "speedtest-proto"\n')
    monkeypatch.setattr(check_locks, "built_crates", crates)
    return made


def crates(workspace: Path, licence: str | None = "MIT") -> list[dict[str, Any]]:
    lock = tomllib.loads((workspace / "Cargo.lock").read_text())
    return [{**package, "license": licence} for package in lock["package"]]


def cargo(workspace: Path, packages: list[dict[str, str]]) -> list[str]:
    tables = ("".join(f'{key} = "{value}"\n' for key, value in each.items()) for each in packages)
    text = "".join(f"[[package]]\n{table}" for table in tables)
    (workspace / "Cargo.lock").write_text(text)
    return cargo_errors(workspace, Allowed(LICENCES, {}, {}))


def test_cargo_lock_sound_one_has_no_error(workspace: Path) -> None:
    assert cargo(workspace, CRATES) == []


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"source": "git+ssh://host/bytes#1"}, "bytes: comes from git+ssh://host/bytes#1"),
        ({"source": "registry+ssh://host/index"}, "bytes: comes from registry+ssh://host/index"),
        ({"source": None}, "bytes: comes from a folder"),
        ({"checksum": None}, "bytes: has no checksum"),
        ({"checksum": "0"}, "bytes: has no checksum"),
        ({"name": "rand", "version": "0.10.3"}, "rand: 2 versions, 0.10.3, 0.9.5"),
    ],
)
def test_cargo_lock_planted_fault_is_named(
    workspace: Path, fault: dict[str, str | None], error: str
) -> None:
    ours, planted, other = CRATES
    changed = {key: value for key, value in {**planted, **fault}.items() if value is not None}
    found = cargo(workspace, [ours, changed, other])
    assert [line for line in found if line.startswith(f"speedtest/Cargo.lock: {error}")]


@pytest.mark.parametrize("licence", ["GPL-3.0-only", None])
def test_cargo_lock_other_licence_is_an_error(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, licence: str | None
) -> None:
    monkeypatch.setattr(check_locks, "built_crates", partial(crates, licence=licence))
    assert any("bytes: its licence is" in error for error in cargo(workspace, CRATES))


@pytest.mark.parametrize("purpose", check_locks.PURPOSES)
def test_lock_of_this_project_has_hashes_and_what_pyproject_asks_for(purpose: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lock, found = locked((ROOT / f"setup/locks/{purpose}.txt").read_text())
    assert found == []
    asked = wanted(project, check_locks.PURPOSES[purpose])
    assert [
        error
        for error in check_locks.requirement_errors(lock, asked, {})
        if "nothing requires it" not in error
    ] == []
    assert len(lock) >= len({re.split(r"\W", text)[0] for text in asked}) > 0


def test_locks_of_one_environment_have_the_same_versions() -> None:
    run, build, dev = (
        locked((ROOT / f"setup/locks/{name}.txt").read_text())[0]
        for name in ("run", "build", "dev")
    )
    assert {name: str(dev.get(name)) for name in run | build} == {
        name: str(pin) for name, pin in (run | build).items()
    }
