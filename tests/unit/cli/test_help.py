# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import re
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support.verb_app import verb_app
from tests.unit.cli.every_verb import every_command
from wirespeed.cli.commands.command import build_command
from wirespeed.cli.verbs import image, lab

_PYTHON_TYPE = re.compile(r"<(int|float|str|bool|path|list)[\[ >]")
# Last words of verbs that print a list or a state.
_LISTING = ("list", "status", "sites")


def _leaves() -> list[tuple[str, ...]]:
    return [path for path, command in every_command().items() if not hasattr(command, "commands")]


@pytest.mark.parametrize("path", _leaves(), ids=" ".join)
def test_help_names_no_type_of_python(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    build_command().main([*path, "--help"], prog_name="wirespeed", standalone_mode=False)
    shown = capsys.readouterr().out
    assert "Usage" in shown
    assert _PYTHON_TYPE.search(shown) is None


@pytest.mark.parametrize("path", [p for p in _leaves() if p[-1] in _LISTING], ids=" ".join)
def test_verb_that_lists_prints_json(path: tuple[str, ...]) -> None:
    command: Any = every_command()[path]
    assert "--json" in {name for parameter in command.params for name in parameter.opts}


@pytest.fixture
def nothing_there(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "WIRESPEED_IMAGES", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))


@pytest.mark.usefixtures("nothing_there")
def test_image_list_without_images_prints_an_empty_list() -> None:
    done = CliRunner().invoke(verb_app(image.list_images), ["--json"])
    assert (done.exit_code, json.loads(done.output)) == (0, [])


@pytest.mark.usefixtures("nothing_there")
def test_lab_status_of_no_lab_prints_that_it_is_down() -> None:
    done = CliRunner().invoke(verb_app(lab.status), ["--json"])
    assert (done.exit_code, json.loads(done.output)) == (0, {"up": False, "nodes": []})
