# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.fake_rig import FakeHost
from tests.unit.cli.conftest import Command
from wirespeed.cli.configuration import defaults
from wirespeed.document.private_file import OWN_OCTETS
from wirespeed.model.errors import BadInput

FILE = "wirespeed.toml"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter an empty working folder, and create the user's configuration folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "wirespeed").mkdir(parents=True)
    return tmp_path


def values() -> dict[str, str]:
    return {name: found.value for name, found in defaults().items()}


def test_defaults_without_a_file_are_none(here: Path) -> None:
    assert here
    assert defaults() == {}


def test_defaults_of_the_working_folder_come_before_those_of_the_user(here: Path) -> None:
    (here / "config" / "wirespeed" / FILE).write_text('store = "a.sqlite"\nlease = 30\n')
    (here / FILE).write_text('store = "postgresql://u@h/d"\nlab = "lab.toml"\nholder = "ci"\n')
    assert values() == {
        "store": "postgresql://u@h/d", "lease": "30", "holder": "ci",
        "lab": str(here / "lab.toml"),
    }  # fmt: skip
    assert defaults()["lease"].source == here / "config" / "wirespeed" / FILE
    assert defaults()["lab"].source == Path(FILE)


def test_defaults_relative_file_is_in_the_folder_of_its_configuration(here: Path) -> None:
    user = here / "config" / "wirespeed"
    (user / FILE).write_text('store = "a.sqlite"\nlab = "/srv/lab.toml"\n')
    assert values() == {"store": str(user / "a.sqlite"), "lab": "/srv/lab.toml"}
    (user / FILE).write_text('store = "~/a.sqlite"\n')
    assert values() == {"store": str(Path.home() / "a.sqlite")}


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ('store = "a"\n\nstor = "b"\n', ["line 3: stor: unknown key"]),
        ('lease = 4\n"hosts" = 1\n', ["line 1: lease: must be seconds, 5 or more",
                                      "line 2: hosts: unknown key"]),
        ("# x\n[run]\nquiet = true\n", ["line 2: run: unknown key"]),
        ("store = 1\nlab = ''\nlease = true\n", ["line 1: store", "line 2: lab", "line 3: lease"]),
        ("lease = inf", ["line 1: lease"]),
        ("lease = 9\nstore = =\n", ["is not TOML", "line 2"]),
    ],
)  # fmt: skip
def test_defaults_wrong_file_names_each_line(here: Path, text: str, errors: list[str]) -> None:
    (here / FILE).write_text(text)
    with pytest.raises(BadInput) as refused:
        defaults()
    assert refused.value.what.startswith(f"{FILE}: ")
    for error in errors:
        assert error in refused.value.what
    assert refused.value.next_step == "It may have: store, lab, lease, holder."


def test_defaults_file_that_all_may_write_is_refused(here: Path) -> None:
    (here / FILE).write_text('store = "a"\n')
    (here / FILE).chmod(0o646)
    with pytest.raises(BadInput, match=f"{FILE}: cannot be used: every user can write it"):
        defaults()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("link", [False, True])
def test_defaults_file_of_another_user_is_refused(here: Path, link: bool) -> None:
    file = here / FILE
    if link:
        (here / "mine.toml").write_text('store = "a"\n')
        file.symlink_to("mine.toml")
    else:
        file.write_text('store = "a"\n')
    os.chown(file, 12345, 12345, follow_symlinks=False)
    with pytest.raises(BadInput, match="it belongs to another user"):
        defaults()


def test_defaults_pipe_is_refused_without_waiting(here: Path) -> None:
    os.mkfifo(here / FILE)
    with pytest.raises(BadInput, match="it is no file"):
        defaults()


def test_store_of_the_file_is_used_and_loses_to_environment_and_command_line(
    wirespeed: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(FILE).write_text('store = "of-file.sqlite"\n')
    wirespeed("runs", "--store", "of-word.sqlite")
    assert wirespeed("run", "wire", "-q").code == 0
    assert (tmp_path / "runs.sqlite").exists()  # The environment's.
    monkeypatch.delenv("WIRESPEED_STORE")
    assert wirespeed("run", "wire", "-q").code == 0
    assert (tmp_path / "of-file.sqlite").exists()
    assert wirespeed("run", "wire", "-q", "--store", "of-word.sqlite").code == 0
    assert (tmp_path / "of-word.sqlite").exists()


def test_help_names_the_file_that_a_default_is_from(wirespeed: Command, tmp_path: Path) -> None:
    assert FILE not in wirespeed("runs", "list", "--help").out
    Path(FILE).write_text('store = "[red]a.sqlite"\n')
    help_text = " ".join(wirespeed("runs", "list", "--help").out.replace("│", " ").split())
    assert f"In {FILE}: " in help_text
    assert "[red]a.sqlite." in help_text.replace(" ", "")
    assert tmp_path.name


def test_wrong_file_ends_with_2_before_anything_is_measured(
    wirespeed: Command, host: FakeHost
) -> None:
    Path(FILE).write_text("testbed = 1\n")
    ended = wirespeed("run", "wire")
    assert ended.code == 2
    assert "line 1: testbed: unknown key" in ended.err
    assert not host.opened


def test_lab_of_the_file_is_left_to_studies_that_name_hosts(wirespeed: Command) -> None:
    Path("lab.toml").write_text('[hosts.one]\nssh = "ssh://one"\n')
    Path(FILE).write_text('lab = "lab.toml"\n')
    assert wirespeed("run", "wire", "-q").code == 0
    assert wirespeed("explain", "latest").code == 0
    named = wirespeed("run", "wire", "--lab", "lab.toml")
    assert named.code == 2
    assert "names a host" in named.err
    needed = wirespeed("run", "quickstart", "--set", "hosts.sut=a", "--set", "hosts.generator=b")
    assert needed.code == 2
    assert "lab.toml" in needed.err


def test_defaults_file_that_is_too_large_is_refused_unread(here: Path) -> None:
    with open(here / FILE, "wb") as file:
        file.truncate(OWN_OCTETS + 1)
    with pytest.raises(BadInput, match=r"more than 1,048,576 octets"):
        defaults()


def test_defaults_text_with_control_characters_is_refused(here: Path) -> None:
    (here / FILE).write_text('store = "/tmp/\\u001b[2Jx"\n')
    with pytest.raises(BadInput):
        defaults()
