# SPDX-License-Identifier: Apache-2.0
"""Check typing errors: a message instead of a traceback, and no measurement."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fake_rig import FakeHost
from tests.unit.cli.conftest import Command

TITLE = "Is [tcp] or [traffic] slower[/nope]?"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    # With the byte order mark that some editors write.
    path.write_text(
        f'\ufefftitle = "{TITLE}"\ndescription = "see [topology]"\n[topology]\nkind = "wire"\n',
        encoding="utf-8",
    )
    return path


def test_brackets_in_a_title_are_text(wirespeed: Command, study: Path) -> None:
    shown = wirespeed("study", "show", str(study))
    assert (shown.code, shown.err) == (0, "")
    assert TITLE in shown.out
    assert "see [topology]" in shown.out
    assert wirespeed("run", str(study)).code == 0
    assert TITLE in wirespeed("runs").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["study", "show", "."], "not shipped"),
        (["study", "show", "/usr"], "/usr is a folder"),
        (["run", "wire", "--html", ""], "is a folder, not a file"),
        (["run", "wire", "--html", "/usr"], "is a folder, not a file"),
        (["runs", "--store", "postgresql://a@b:xx/db"], "neither a file nor a database"),
        (["report", "latest"], "no run yet"),
        (["run", "wire", "--set", "title=abc"], "title can only be set in the file"),
        (["run", "wire", "--set", "topology=3"], "name a key in it, e.g. topology.kind"),
        (["run", "wire", "--set", "topology.kind=p2p"], 'goes with topology.kind = "wire"'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_reported_and_nothing_runs(
    wirespeed: Command, host: FakeHost, arguments: list[str], said: str
) -> None:
    ended = wirespeed(*arguments)
    assert ended.code == 2
    assert said in ended.err
    assert not host.opened


HOST = str(Path(__file__).parents[3] / "examples" / "s3-jumbo" / "host.json")
PLAN = str(Path(__file__).parents[3] / "examples" / "s3-jumbo" / "plan.json")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan", "show", HOST], "host.json: another kind of file: no hosts in it"),
        (["inspect", "--host", PLAN], "plan.json: another kind of file: no host, kernel"),
        (["predict", "ask", "--params", PLAN], "plan.json: another kind of file"),
        (["inspect", "--host", "compute-7"], "is written ssh://user@host"),
        (["study", "show", "file"], "named by its path, e.g. ./file."),
        (["study", "show", "nope"], "named by its path, e.g. ./nope.toml."),
        (["run", "quickstart-7", "--resume"], "no such file, so no run yet"),
        (["runs", "--store", "file"], "the file is no SQLite database"),
        (["fleet", "pairs", "retry", "nope"], "no such file"),
        (["bng", "tables", "--users", "-1"], "bng tables: users = -1: must be from 0"),
        (["router", "table", "--ipv4", "-1"], "--ipv4 -1: must be from 0 to 1100000"),
        (["router", "table", "--ipv6", "500001"], "--ipv6 500001: must be from 0 to 500000"),
        (["router", "table", "--next-hops", "0"], "--next-hops 0: must be from 1 to 4096"),
        (["router", "table", "--outputs", "17"], "--outputs 17: must be from 1 to 16"),
        (["bng", "tables", "--pppoe"], "`wirespeed bng tables --help`"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_file_or_name_is_two_lines_with_the_right_form(
    wirespeed: Command, arguments: list[str], said: str
) -> None:
    Path("file").write_text("neither a study nor a store\n" * 50)
    ended = wirespeed(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 2


def test_a_missing_store_is_named_by_its_address(wirespeed: Command, tmp_path: Path) -> None:
    for verb in (["runs"], ["runs", "check"], ["report", "latest"], ["compare", "a", "b"],
                 ["explain", "latest"], ["fleet"], ["fleet", "hosts"], ["fleet", "pairs", "list"],
                 ["run", "wire", "--resume"], ["runs", "delete", "wire-1"]):  # fmt: skip
        ended = wirespeed(*verb, "--store", "other.sqlite")
        assert (ended.code, ended.out) == (2, "")
        assert f"store sqlite:///{tmp_path}/other.sqlite: no such file" in ended.err
    assert not (tmp_path / "other.sqlite").exists()


def test_runs_without_default_store_lists_none_and_makes_none(
    wirespeed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WIRESPEED_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    ended = wirespeed("runs")
    assert (ended.code, "No runs yet in" in ended.out) == (0, True)
    assert not (tmp_path / "data").exists()


def test_a_study_that_cannot_be_read_is_named(
    wirespeed: Command, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied", str(study))

    monkeypatch.setattr("wirespeed.study.load.read_text_file", refuse)
    ended = wirespeed("study", "show", str(study))
    assert (ended.code, "mine.toml cannot be read: Permission denied" in ended.err) == (2, True)


def test_a_benchmark_output_that_is_not_text_is_refused(wirespeed: Command) -> None:
    Path("binary").write_bytes(b"\xff\xfe\x00")
    ended = wirespeed("bng", "curve", "binary")
    assert (ended.code, "binary: not text" in ended.err) == (2, True)


LAB = """
[hosts.tester]
ssh = "ssh://root@127.0.0.1:1"
ports = { east = "eth1", west = "eth2" }
[hosts.dut]
ssh = "ssh://root@127.0.0.1:2"
ports = { east = "eth1", west = "eth2" }
"""
SPREAD = ["--set", "hosts.generator=tester", "--set", "hosts.sut=dut"]


@pytest.fixture
def lab(tmp_path: Path) -> str:
    path = tmp_path / "lab.toml"
    path.write_text(LAB)
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "quickstart", *SPREAD], "there is no testbed file; give one with --lab FILE"),
        (["run", "quickstart", "--lab", "LAB"], "no point of study quickstart names a host"),
        (["run", "quickstart", "--lab", "none.toml"], "none.toml cannot be read"),
        (["run", "quickstart", "--lab", "LAB", *SPREAD[:2], "--set", "hosts.sut=dot"],
         'hosts.sut = "dot": is no host of LAB, which has tester, dut'),
        (["run", "wire", "--lab", "LAB", *SPREAD], "it is one process on one host"),
        (["run", "quickstart", "--lab", "LAB", *SPREAD, "--set", "topology.kind=p2p"],
         'hosts.dut.ssh = "ssh://root@127.0.0.1:2": dut could not be reached'),
    ],
    ids=["no testbed", "nothing for it", "no such file", "no such host", "wire", "unreachable"],
)  # fmt: skip
def test_an_error_in_the_hosts_is_reported_and_nothing_runs(
    wirespeed: Command, host: FakeHost, lab: str, arguments: list[str], said: str
) -> None:
    ended = wirespeed(*(argument.replace("LAB", lab) for argument in arguments))
    assert ended.code == 2
    assert said.replace("LAB", lab) in ended.err
    assert not host.opened
