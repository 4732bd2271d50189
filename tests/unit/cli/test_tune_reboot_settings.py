# SPDX-License-Identifier: Apache-2.0
"""The verb tune with --reboot where settings are tried within each boot."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.support.effort import effort
from tests.support.fake_host import Cut, no_sleep
from tests.support.fake_host import FakeHost as Server
from tests.support.fake_rig import FakeHost
from tests.unit.apply.test_cuts import KINDS
from tests.unit.cli.conftest import Command, Ended
from tests.unit.cli.test_tune import POINT, SCHEMA
from tests.unit.cli.test_tune_keep import GOVERNOR
from tests.unit.cli.test_tune_reboot import BOOTS, WORD, Made, made  # noqa: F401
from wirespeed.apply import session
from wirespeed.model.study.spec import Frames

SETTINGS = f"""
[[factor]]
name = "no ticks"
kernel = ["{WORD}"]

[[factor]]
name = "EMC and governor"
"sut.vswitch.ovs.emc" = true
host = {{ "{GOVERNOR}" = "performance" }}

[[factor]]
name = "SMC"
"sut.vswitch.ovs.smc" = true
"""
WORDS = ("tune", *POINT, "--set", "sut.vswitch.ovs.emc=false", "--factors", "factors.toml",
         "--reboot")  # fmt: skip


@pytest.fixture
def both(made: Made, host: FakeHost, tmp_path: Path) -> Made:  # noqa: F811
    """Make the SUT faster by the word, by the EMC and slower by the SMC."""

    def capacity(frames: Frames) -> float:
        ovs = frames.sut.vswitch.ovs
        return made.capacity(frames) * (1.1 if ovs.emc else 1.0) * (0.95 if ovs.smc else 1.0)

    host.capacity_of = capacity
    (tmp_path / "factors.toml").write_text(SETTINGS)
    return made


def to_its_end(wirespeed: Command, *more: str, first: tuple[str, ...] = ()) -> Ended:
    ended = wirespeed(*WORDS, *more, *first)
    while not ended.code and "After the reboot: wirespeed tune" in ended.err:
        ended = wirespeed(*WORDS, *more, "--resume")
    return ended


def test_tune_reboot_tries_settings_within_each_boot_and_proves_both(
    wirespeed: Command, both: Made, host: FakeHost, tmp_path: Path
) -> None:
    before, boots = both.server.state(), both.server.boots
    ended = to_its_end(wirespeed, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert (found["answer"], found["factors"]) == ("more", ["no ticks"])
    settings = found["settings"]
    jsonschema.validate(settings, json.loads(SCHEMA.read_text()))
    assert settings["overrides"] == {"sut.vswitch.ovs.emc": True}
    verdicts = {each["name"]: each["verdict"] for each in settings["factors"]}
    assert verdicts == {"EMC and governor": "keep", "SMC": "harms"}
    gains = {each["name"]: each["gain"] for each in settings["factors"]}
    assert gains["EMC and governor"] == pytest.approx(0.1, abs=0.01)
    # The last pair of boots had the words, too, so the confirmation takes one boot more at most.
    assert both.server.boots - boots in (BOOTS, BOOTS + 1)
    assert len(host.opened) == len(settings["measurements"])
    assert both.server.state() == before
    text = (tmp_path / "tuned.toml").read_text()
    assert f'kernel = ["{WORD}"]' in text
    assert "sut.vswitch.ovs.emc = true" in text


def test_tune_reboot_words_without_a_gain_leave_settings_proven_without_them(
    wirespeed: Command, both: Made
) -> None:
    both.gain, before = 0.0, both.server.state()
    ended = to_its_end(wirespeed)
    assert ended.code == 0, ended.err
    out = " ".join(ended.out.split())
    assert "differ by less than 2.0%" in out
    assert "EMC and governor: +10" in out
    assert both.server.state() == before


def test_tune_reboot_keep_leaves_words_and_settings_and_rollback_undoes_both(
    wirespeed: Command, both: Made
) -> None:
    before = both.server.state()
    ended = to_its_end(wirespeed, "--keep", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["kept"]
    assert found["settings"]["kept"][0]["name"] == GOVERNOR
    assert WORD in both.server.kernel.cmdline
    assert both.server.kernel.governors[2] == "performance"
    for _ in range(2):
        undone = session.undo(both.server.reach, "localhost", may_reboot=False, sleep=no_sleep)
        assert not undone.stuck
        if undone.reboot_due:
            both.server.reboot()
    assert both.server.state() == before


def test_tune_reboot_block_that_power_loss_cut_goes_on_in_another_boot(
    wirespeed: Command, both: Made, host: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = both.server.state()

    def cut(number: int) -> None:
        if number == 7:  # within the second boot
            raise KeyboardInterrupt

    monkeypatch.setattr(host, "before_bench", cut)
    assert to_its_end(wirespeed).code == 130
    monkeypatch.setattr(host, "before_bench", lambda _number: None)
    both.server.reboot()
    ended = to_its_end(wirespeed, "--json", first=("--resume",))
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["settings"]["overrides"] == {"sut.vswitch.ovs.emc": True}
    assert both.server.state() == before


def test_tune_reboot_with_settings_cut_anywhere_goes_on_or_is_undone(
    wirespeed: Command, both: Made, tmp_path: Path
) -> None:
    state = both.server.state()
    to_its_end(wirespeed)
    cases = [
        Cut(at, when, what) for at in range(1, both.server.changes + 1) for when, what in KINDS
    ]
    seen = 0
    for number, cut in enumerate(cases[5 :: effort(len(cases) // 2, 9)]):
        both.server = Server(cut=cut)
        store = ("--store", str(tmp_path / f"{number}.sqlite"))
        ended = to_its_end(wirespeed, "--json", *store)
        if ended.code and number % 2:
            for _ in range(2):
                reach = both.server.reach
                undone = session.undo(reach, "localhost", may_reboot=False, sleep=no_sleep)
                assert not undone.stuck, cut
                if undone.reboot_due:
                    both.server.reboot()
            ended = to_its_end(wirespeed, "--json", *store)
        elif ended.code:
            ended = to_its_end(wirespeed, "--json", *store, first=("--resume",))
            if "no unfinished run" in ended.err or "no such file" in ended.err:
                ended = to_its_end(wirespeed, "--json", *store)
        seen += 1
        assert ended.code == 0, (cut, ended.err)
        assert json.loads(ended.out)["settings"]["overrides"], cut
        assert both.server.state() == state, cut
    assert seen


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        ('levels = [{ "sut.vswitch.descriptors" = 64 }, { "sut.vswitch.descriptors" = 128 }]',
         "each boot takes at most 16 factors with one other level"),
        ('"sut.vswitch.ovs.emc" = false', "both levels are equal"),
    ],
)  # fmt: skip
def test_tune_reboot_setting_that_cannot_be_tried_is_one_error_and_no_reboot(
    wirespeed: Command, both: Made, tmp_path: Path, *, factor: str, said: str
) -> None:
    words = f'[[factor]]\nname = "w"\nkernel = ["{WORD}"]\n'
    (tmp_path / "factors.toml").write_text(f'{words}[[factor]]\nname = "s"\n{factor}\n')
    boots = both.server.boots
    ended = wirespeed(*WORDS)
    assert ended.code == 2, ended.out
    assert said in ended.err
    assert both.server.boots == boots
