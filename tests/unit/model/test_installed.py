# SPDX-License-Identifier: Apache-2.0
"""Check the command that adds an extra, and that nothing advises an install from an index."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from wirespeed.model.host import installed

REPOSITORY = Path(__file__).parents[3]
# Texts for people: code, documents, scripts, the collection.
TOLD = ("src", "docs", "ansible", "setup", "studies", "examples", "speedtest", "benchmarks")
# `pip install ... wirespeed`, also with an extra, a version or quotes, but not a path or archive.
BY_NAME = re.compile(
    r"(?:pip3?|pipx|uv)\b[^\n;|&`#]*?\b(?:install|add|run|tool)\b[^\n;|&`#]*?"
    r"[\s'\"]wirespeed(?:\[[^\]]*\])?(?=[\s'\"`=<>~,;.)]|$)"
)


def test_own_module_is_not_imported_from_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "wirespeed").mkdir()
    (tmp_path / "wirespeed" / "__init__.py").write_text("raise SystemExit('not ours')")
    command = [*installed.own_module("wirespeed.cli.main"), "--version"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


class FakeDistribution:
    """A distribution installed from this URL, or of unknown origin."""

    def __init__(self, url: str | None, editable: bool = False) -> None:
        self.url, self.editable = url, editable

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        if self.url is None:
            return None
        return json.dumps({"url": self.url, "dir_info": {"editable": self.editable}})


def test_install_extra_debian_package_names_no_pip_of_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.executable", "/usr/lib/wirespeed/bin/python")
    assert installed.install_extra("fit").startswith("pip install '.[fit]' in a virtual")


@pytest.mark.parametrize("editable", [True, False])
def test_install_extra_installed_from_a_folder_names_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, editable: bool
) -> None:
    folder = tmp_path / "a clone"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    made = FakeDistribution(folder.as_uri(), editable)
    monkeypatch.setattr(installed, "_distribution", lambda: made)
    option = "-e " if editable else ""
    told = f"{sys.executable} -m pip install {option}'{folder}[fit]'"
    assert installed.install_extra("fit") == told


@pytest.mark.parametrize("url", [None, "file:///gone", "https://example.net/wirespeed.whl"])
def test_install_extra_source_gone_asks_for_a_clone(
    monkeypatch: pytest.MonkeyPatch, url: str | None
) -> None:
    monkeypatch.setattr(installed, "_distribution", lambda: FakeDistribution(url))
    told = installed.install_extra("fit")
    assert told == f"{sys.executable} -m pip install '.[fit]' in a clone of the repository"


def test_install_extra_not_installed_asks_for_a_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise PackageNotFoundError("wirespeed")

    monkeypatch.setattr(installed, "_distribution", missing)
    assert "in a clone of the repository" in installed.install_extra("fit")


@pytest.mark.parametrize(
    ("advice", "by_name"),
    [
        ("pip install 'wirespeed[postgresql]'", True),
        ("python -m pip install --upgrade wirespeed", True),
        ("pip install wirespeed==0.1.0", True),
        ("pipx install wirespeed", True),
        ("uv tool install wirespeed", True),
        ("pip install -e '.[postgresql]'   # wirespeed", False),
        ("pip install wirespeed-0.1.0.whl", False),
        ("pip install ./wirespeed", False),
    ],
)
def test_advice_by_name_is_distinguished_from_others(advice: str, by_name: bool) -> None:
    assert bool(BY_NAME.search(advice)) is by_name


def test_nothing_advises_to_install_wirespeed_from_an_index() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.md", "Makefile", *TOLD],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = []
    for name in listed.stdout.splitlines():
        if name == "CHANGELOG.md":  # its entries describe the past
            continue
        try:
            text = (REPOSITORY / name).read_text()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        found += [f"{name}: {match.group()}" for match in BY_NAME.finditer(text)]
    assert found == []
