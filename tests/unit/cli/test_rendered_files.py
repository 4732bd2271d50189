# SPDX-License-Identifier: Apache-2.0
"""Check `plan render` into a folder that has files already."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.examples import ROOT
from tests.unit.cli.conftest import Command
from wirespeed.cli.show.rendered_files import LIST, write_rendered
from wirespeed.model.errors import BadInput

PLANS = {name: str(ROOT / "examples" / name / "plan.json") for name in ("s2-chains", "s3-jumbo")}


def files(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()} - {LIST}


def test_render_another_plan_leaves_only_its_own_files(wirespeed: Command, tmp_path: Path) -> None:
    assert wirespeed("plan", "render", PLANS["s3-jumbo"], "-o", "alone").code == 0
    assert wirespeed("plan", "render", PLANS["s2-chains"], "-o", "out").code == 0
    (tmp_path / "out" / "kernel" / "mine.txt").write_text("mine")
    ended = wirespeed("plan", "render", PLANS["s3-jumbo"], "-o", "out")
    assert "older files removed" in ended.out
    assert files(tmp_path / "out") == files(tmp_path / "alone") | {"kernel/mine.txt"}


def test_render_another_target_keeps_what_others_wrote(wirespeed: Command, tmp_path: Path) -> None:
    for target in ("ovs", "kernel"):
        assert (
            wirespeed("plan", "render", PLANS["s2-chains"], "--to", target, "-o", "out").code == 0
        )
    assert {name.partition("/")[0] for name in files(tmp_path / "out")} == {"ovs", "kernel"}
    assert wirespeed("plan", "render", PLANS["s3-jumbo"], "--to", "ovs", "-o", "out").code == 0
    assert not (tmp_path / "out" / "ovs" / "s2-r730.sh").exists()
    assert (tmp_path / "out" / "kernel" / "s2-r730").exists()


def test_write_rendered_edited_file_stays(tmp_path: Path) -> None:
    write_rendered(tmp_path, {"ovs/a.sh": "a", "ovs/b.sh": "b"}, ["ovs"])
    (tmp_path / "ovs/a.sh").write_text("edited")
    assert write_rendered(tmp_path, {"ovs/c.sh": "c"}, ["ovs"]) == 1
    assert files(tmp_path) == {"ovs/a.sh", "ovs/c.sh"}


@pytest.mark.parametrize("name", ["../victim", "/etc/hostname", "ovs/../../victim"])
def test_write_rendered_list_of_others_removes_nothing_outside(tmp_path: Path, name: str) -> None:
    folder, victim = tmp_path / "out", tmp_path / "victim"
    folder.mkdir()
    victim.write_text("v")
    digest = "4c94485e0c21ae6c41ce1dfe7b6bfaceea5ab68e40a2476f50208e526f506080"  # of "v"
    (folder / LIST).write_text(json.dumps({name: digest, "ovs/link": digest}))
    (folder / "ovs").mkdir()
    (folder / "ovs" / "link").symlink_to(victim)
    assert write_rendered(folder, {"ovs/a.sh": "a"}, ["ovs", "..", ""]) == 0
    assert victim.read_text() == "v"


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "[" * 100_000, '{"ovs/a": 3}'])
def test_write_rendered_damaged_list_is_written_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / LIST).write_text(text)
    assert write_rendered(tmp_path, {"ovs/a.sh": "a"}, ["ovs"]) == 0
    assert "ovs/a.sh" in json.loads((tmp_path / LIST).read_text())


def test_write_rendered_name_outside_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is outside of"):
        write_rendered(tmp_path, {"ovs/../../a": "a"}, ["ovs"])
    assert not list(tmp_path.iterdir())
