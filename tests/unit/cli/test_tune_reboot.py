# SPDX-License-Identifier: Apache-2.0
"""The verb tune with --reboot, on a simulated SUT of a simulated server that reboots."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.effort import effort
from tests.support.fake_host import Cut, no_sleep
from tests.support.fake_host import FakeHost as Server
from tests.support.fake_rig import FakeHost
from tests.support.fake_runner import FakeRunner
from tests.unit.apply.test_cuts import KINDS
from tests.unit.cli.conftest import Command, Ended
from tests.unit.cli.test_tune import POINT
from wirespeed.apply import session
from wirespeed.cli.verbs import tune as verb
from wirespeed.cli.verbs import tune_boots, tune_keep, tune_reboot
from wirespeed.model.study.spec import Frames
from wirespeed.store.run_writer import RunWriter
from wirespeed.tune import boot_offer
from wirespeed.tune.boots import Boots

WORD = "nohz_full=2-3"
FACTORS = f"""
[[factor]]
name = "no ticks"
kernel = ["{WORD}", "nohz=on"]

[[factor]]
name = "EMC"
"sut.vswitch.ovs.emc" = true
"""
PLAIN = ("tune", *POINT, "--factors", "factors.toml")
WORDS = (*PLAIN, "--never", "EMC", "--reboot")
# Boots of a search: A B B A and so on in 3 pairs, and one more to put everything back.
BOOTS = 6


class Made:
    """A server whose SUT is faster with the word by a share."""

    def __init__(self) -> None:
        self.server = Server()
        self.gain = 0.2

    def capacity(self, _frames: Frames) -> float:
        return 2e6 * (1 + self.gain * (WORD in self.server.kernel.cmdline.split()))


@pytest.fixture
def made(host: FakeHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Made:
    found = Made()

    @contextmanager
    def reach(address: str, name: str = "", *, sudo: bool = False) -> Iterator[FakeRunner]:
        del name
        with found.server.reach(address, sudo=sudo) as runner:
            yield runner

    for module in (verb, tune_boots, tune_keep, tune_reboot):
        monkeypatch.setattr(module, "reach", reach)
    # It would wait for all disks of this machine, which no test reboots.
    monkeypatch.setattr(os, "sync", lambda: None)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    host.capacity_of = found.capacity
    (tmp_path / "factors.toml").write_text(FACTORS)
    return found


def to_its_end(wirespeed: Command, *more: str, first: tuple[str, ...] = ()) -> Ended:
    """Run the command, and again after each reboot of this machine, as it tells."""
    ended = wirespeed(*WORDS, *more, *first)
    while not ended.code and "After the reboot: wirespeed tune" in ended.err:
        ended = wirespeed(*WORDS, *more, "--resume")
    return ended


def test_tune_reboot_proves_the_words_and_puts_the_host_back(
    wirespeed: Command, made: Made, tmp_path: Path
) -> None:
    before, boots = made.server.state(), made.server.boots
    ended = to_its_end(wirespeed, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert (found["answer"], found["kept"]) == ("more", False)
    assert found["kernel"] == [WORD, "nohz=on"]
    assert found["not_tried"][0]["factor"] == "EMC"
    assert found["low"] > 0
    assert made.server.state() == before
    assert made.server.boots - boots == BOOTS
    assert f'kernel = ["{WORD}", "nohz=on"]' in (tmp_path / "tuned.toml").read_text()
    assert not list((tmp_path / "state" / "wirespeed").glob("tune-reboot-*"))


def test_tune_reboot_of_words_without_a_gain_claims_nothing(
    wirespeed: Command, made: Made, tmp_path: Path
) -> None:
    made.gain, before = 0.0, made.server.state()
    ended = to_its_end(wirespeed)
    assert ended.code == 0
    assert "differ by less than 2.0%" in " ".join(ended.out.split())
    assert "is as before" in ended.out
    assert made.server.state() == before
    assert not (tmp_path / "tuned.toml").exists()


def test_tune_reboot_keep_leaves_the_words_and_rollback_undoes_them(
    wirespeed: Command, made: Made
) -> None:
    before = made.server.state()
    ended = to_its_end(wirespeed, "--keep", "--json")
    assert json.loads(ended.out)["kept"]
    assert WORD in made.server.kernel.cmdline
    made.server.reboot()
    assert WORD in made.server.kernel.cmdline
    session.undo(made.server.reach, "localhost", may_reboot=False, sleep=no_sleep)
    made.server.reboot()
    session.undo(made.server.reach, "localhost", may_reboot=False, sleep=no_sleep)
    assert made.server.state() == before


def test_tune_without_reboot_never_reboots(wirespeed: Command, made: Made) -> None:
    before, boots = made.server.state(), made.server.boots
    ended = wirespeed(*PLAIN)
    assert ended.code == 2
    assert "add --reboot" in ended.err
    ended = wirespeed(*PLAIN, "--never", "no ticks", "--set", "sut.vswitch.ovs.emc=false")
    assert ended.code == 0, ended.err
    assert made.server.boots == boots
    assert made.server.state() == before


def changes(wirespeed: Command, made: Made) -> int:
    to_its_end(wirespeed)
    return made.server.changes


def test_tune_reboot_cut_anywhere_goes_on_to_the_same_end(
    wirespeed: Command, made: Made, tmp_path: Path
) -> None:
    state = made.server.state()
    count, seen = changes(wirespeed, made), 0
    cases = [Cut(at, when, what) for at in range(1, count + 1) for when, what in KINDS]
    for number, cut in enumerate(cases[:: effort(len(cases) // 3, 7)]):
        made.server = Server(cut=cut)
        store = ("--store", str(tmp_path / f"{number}.sqlite"))
        ended = to_its_end(wirespeed, "--json", *store)
        if ended.code:
            seen += 1
            assert "broke" in ended.err, (cut, ended.err)
            # A cut before the run began leaves nothing to resume.
            ended = to_its_end(wirespeed, "--json", *store, first=("--resume",))
            if "no unfinished run" in ended.err or "no such file" in ended.err:
                ended = to_its_end(wirespeed, "--json", *store)
        assert ended.code == 0, (cut, ended.err)
        assert json.loads(ended.out)["answer"] == "more", cut
        assert made.server.state() == state, cut
    assert seen


def test_tune_reboot_cut_anywhere_is_undone_by_rollback(
    wirespeed: Command, made: Made, tmp_path: Path
) -> None:
    state = made.server.state()
    count, seen = changes(wirespeed, made), 0
    cases = [Cut(at, when, what) for at in range(1, count + 1) for when, what in KINDS]
    for number, cut in enumerate(cases[3 :: effort(len(cases) // 3, 7)]):
        made.server = Server(cut=cut)
        store = ("--store", str(tmp_path / f"{number}.sqlite"))
        ended = to_its_end(wirespeed, *store)
        seen += bool(ended.code)
        for _ in range(2):
            undone = session.undo(made.server.reach, "localhost", may_reboot=False, sleep=no_sleep)
            assert not undone.stuck, cut
            if undone.reboot_due:
                made.server.reboot()
        assert made.server.state() == state, cut
        if ended.code:
            # The file of the cut search does not stand in the way of a new one.
            again = to_its_end(wirespeed, "--json", *store)
            assert again.code == 0, (cut, again.err)
    assert seen


class Killed(BaseException):
    """Raised where the command is killed."""


@pytest.mark.parametrize(
    ("last", "again"),
    [((RunWriter, "finish"), "goes on"), ((Boots, "remove"), "ended: wirespeed report")],
)
def test_tune_reboot_keep_killed_at_its_end_keeps_the_words_and_rollback_undoes_them(
    wirespeed: Command, made: Made, monkeypatch: pytest.MonkeyPatch, last: tuple[type, str],
    again: str,
) -> None:  # fmt: skip
    def killed(_self: object) -> None:
        raise Killed

    before = made.server.state()
    with monkeypatch.context() as patched:
        patched.setattr(*last, killed)
        with pytest.raises(Killed):
            to_its_end(wirespeed, "--keep")
    assert WORD in made.server.kernel.cmdline
    boots = made.server.boots
    ended = wirespeed(*WORDS, "--keep", "--resume")
    assert again in ended.err
    assert made.server.boots == boots
    assert WORD in made.server.kernel.cmdline
    for _ in range(2):
        session.undo(made.server.reach, "localhost", may_reboot=False, sleep=no_sleep)
        made.server.reboot()
    assert made.server.state() == before


def test_tune_reboot_in_the_middle_of_another_search_is_refused(
    wirespeed: Command, made: Made
) -> None:
    assert "After the reboot" in wirespeed(*WORDS).err
    boots = made.server.boots
    ended = wirespeed(*WORDS)
    assert ended.code == 2
    assert "in the middle of a search" in ended.err
    assert made.server.boots == boots


def test_tune_reboot_boot_loader_that_ignores_the_words_is_an_error(
    wirespeed: Command, made: Made
) -> None:
    made.server.boot_loader.keeps_words = True
    ended = to_its_end(wirespeed)
    assert ended.code == 1
    assert "kernel command line" in ended.err
    assert made.server.boots <= 2


@pytest.mark.parametrize(
    ("factor", "words", "said"),
    [
        ('kernel = "nohz"', (), "must be a list"),
        ('kernel = ["a b"]', (), "a word of the kernel command line"),
        ('kernel = ["nohz"]\ncpus = 1', (), "cannot be set together with `kernel`"),
        ('kernel = ["nohz"]\nneeds = "host"', (), 'must be "reboot"'),
        ('kernel = ["console=ttyS0"]', (), "runs with its words already"),
        ('"sut.vswitch.ovs.emc" = false', (), "no factor with kernel words to try"),
        ('kernel = ["nohz"]', ("--only", "tick"), "no such factor"),
        ('kernel = ["nohz"]', ("--minutes", "5"), "compares boots in pairs"),
    ],
)
def test_tune_reboot_bad_input_is_one_error_and_no_reboot(
    wirespeed: Command,
    made: Made,
    tmp_path: Path,
    *,
    factor: str,
    words: tuple[str, ...],
    said: str,
) -> None:
    (tmp_path / "factors.toml").write_text(f'[[factor]]\nname = "ticks"\n{factor}\n')
    boots = made.server.boots
    ended = wirespeed(*PLAIN, "--reboot", *words)
    assert ended.code == 2, ended.out
    assert said in ended.err
    assert made.server.boots == boots


def test_tune_reboot_without_a_file_isolates_the_cpus_that_poll(
    wirespeed: Command, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    polling: Callable[[object], frozenset[int]] = lambda _plan: frozenset({1})  # noqa: E731
    monkeypatch.setattr(boot_offer, "polling_of", polling)
    ended = wirespeed("tune", *POINT, "--reboot")
    assert "isolcpus=1 nohz=on nohz_full=1 rcu_nocbs=1: at most 12 measurements" in ended.err
    assert "isolcpus=1" in made.server.kernel.cmdline
    monkeypatch.setattr(boot_offer, "polling_of", lambda _plan: frozenset({0, 1}))
    # The words are those that the search has begun with.
    ended = wirespeed("tune", *POINT, "--reboot", "--resume")
    assert ended.code == 0, ended.err
