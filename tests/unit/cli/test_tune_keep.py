# SPDX-License-Identifier: Apache-2.0
"""The verb tune with --keep and --host, on a simulated SUT and a simulated server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jsonschema
import pytest

from tests.support.fake_host import FakeHost as Server
from tests.support.fake_host import no_sleep
from tests.support.fake_rig import FakeHost
from tests.support.fake_runner import FakeRunner
from tests.unit.cli.conftest import Command
from tests.unit.cli.test_tune import POINT, SCHEMA
from wirespeed.apply import session
from wirespeed.apply.keep import Kept
from wirespeed.cli.verbs import tune as verb
from wirespeed.cli.verbs import tune_keep
from wirespeed.remote.interface import HostLost

GOVERNOR = "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor"
FACTORS = f"""
[[factor]]
name = "EMC and governor"
"sut.vswitch.ovs.emc" = true
host = {{ "{GOVERNOR}" = "performance" }}

[[factor]]
name = "SMC"
"sut.vswitch.ovs.smc" = true
"""


@pytest.fixture
def server(host: FakeHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Server:
    """Return the host whose files are set; with the EMC the SUT is faster by a fifth."""
    found = Server()

    @contextmanager
    def reach(address: str, name: str = "", *, sudo: bool = False) -> Iterator[FakeRunner]:
        del name
        with found.reach(address, sudo=sudo) as runner:
            yield runner

    for module in (verb, tune_keep):
        monkeypatch.setattr(module, "reach", reach)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    host.capacity_of = lambda frames: 2e6 * (1.2 if frames.sut.vswitch.ovs.emc else 1.0)
    (tmp_path / "factors.toml").write_text(FACTORS)
    return found


WORDS = ("tune", *POINT, "--factors", "factors.toml", "--set", "sut.vswitch.ovs.emc=false")


def test_tune_keep_applies_what_is_proven_and_rollback_undoes_it(
    wirespeed: Command, server: Server
) -> None:
    before = server.state()
    ended = wirespeed(*WORDS, "--keep", "--json")
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    assert document["kept"][0]["name"] == GOVERNOR
    assert server.kernel.governors[2] == "performance"
    undone = session.undo(server.reach, "localhost", may_reboot=False, sleep=no_sleep)
    assert not undone.failed
    assert server.state() == before


def test_tune_without_keep_puts_the_host_back(wirespeed: Command, server: Server) -> None:
    before = server.state()
    ended = wirespeed(*WORDS)
    assert ended.code == 0, ended.err
    assert f"To keep on the host: {GOVERNOR} = performance" in ended.out
    assert server.state() == before


def test_tune_keep_that_was_cut_is_made_up_by_resume(
    wirespeed: Command, server: Server, host: FakeHost, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    keep = tune_keep.keep

    def cut(*_words: object) -> Kept:
        raise HostLost("the connection to lab1 broke", "")

    monkeypatch.setattr(tune_keep, "keep", cut)
    ended = wirespeed(*WORDS, "--keep", "--html", "page.html")
    assert ended.code == 1
    assert "Confirmation:" in ended.out, "the result is printed though it is not kept"
    assert "the connection to lab1 broke" in ended.err
    assert "EMC and governor" in (tmp_path / "page.html").read_text()
    measured = len(host.opened)
    monkeypatch.setattr(tune_keep, "keep", keep)
    ended = wirespeed(*WORDS, "--keep", "--resume", "--html", "page.html")
    assert ended.code == 0, ended.err
    assert "Kept on the host" in (tmp_path / "page.html").read_text()
    assert f"Kept on the host: {GOVERNOR}: schedutil to performance, done" in " ".join(
        ended.out.split()
    )
    assert len(host.opened) == measured
    assert server.kernel.governors[2] == "performance"


@pytest.mark.usefixtures("server")
def test_tune_keep_that_fails_still_prints_the_document(
    wirespeed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_words: object) -> Kept:
        raise HostLost("the connection to lab1 broke", "")

    monkeypatch.setattr(tune_keep, "keep", cut)
    ended = wirespeed(*WORDS, "--keep", "--json")
    assert ended.code == 1
    document = json.loads(ended.out)
    assert document["host_files"] == {GOVERNOR: "performance"}
    assert document["kept"] is None


def test_tune_keep_on_a_locked_host_is_refused_before_a_measurement(
    wirespeed: Command, server: Server, host: FakeHost
) -> None:
    with (
        server.reach("localhost", sudo=False) as runner,
        runner.lock("/run/wirespeed-apply.lock"),
    ):
        ended = wirespeed(*WORDS, "--keep")
    assert ended.code != 0
    assert "another apply or rollback is running" in ended.err
    assert not host.opened


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host", "ssh://root@other"), "Run `wirespeed tune` on that host"),
        (("--lab", "absent.toml"), "absent.toml cannot be read"),
        (("--set", "hosts.generator=one", "--set", "hosts.sut=two"), "Give one with --lab FILE"),
    ],
)
@pytest.mark.usefixtures("server")
def test_tune_host_that_is_not_the_suts_is_one_error(
    wirespeed: Command, words: tuple[str, ...], said: str
) -> None:
    ended = wirespeed(*WORDS, *words)
    assert ended.code == 2
    assert said in ended.err


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (GOVERNOR, "schedutil", "both levels are equal"),
        ("/sys/absent", "1", "/sys/absent cannot be read on lab1"),
    ],
)
@pytest.mark.usefixtures("server")
def test_tune_file_of_a_factor_that_the_host_lacks_or_has_is_one_error(
    wirespeed: Command, tmp_path: Path, file: str, text: str, said: str
) -> None:
    factor = f'[[factor]]\nname = "d"\nhost = {{ "{file}" = "{text}" }}\n'
    (tmp_path / "factors.toml").write_text(factor)
    ended = wirespeed(*WORDS)
    assert ended.code == 2
    assert said in ended.err
    ended = wirespeed(*WORDS, "--never", "d")
    assert "there is no factor to try" in ended.err


@pytest.mark.usefixtures("server")
def test_tune_host_of_another_role_names_the_sut(wirespeed: Command, tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text(
        '[hosts.one]\nports = { east = "eth1", west = "eth2" }\n'
        '[hosts.two]\nssh = "ssh://root@two"\nports = { east = "eth1", west = "eth2" }\n'
    )
    roles = ("--set", "hosts.generator=one", "--set", "hosts.sut=two", "--lab", "lab.toml")
    ended = wirespeed(*WORDS, *roles, "--host", "one")
    assert ended.code == 2
    assert "the SUT of" in ended.err
    assert "is two (ssh://root@two)" in ended.err
