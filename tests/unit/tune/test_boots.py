# SPDX-License-Identifier: Apache-2.0
"""Boots that a search with reboots has measured, over cuts."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirespeed.model.errors import BadInput
from wirespeed.tune.boots import Boots, NotBooted, RebootDue, boots_of
from wirespeed.tune.factor import Factor, Needs, NotTried

HOST, WORDS = "ssh://root@dut", ("nohz_full=2-3", "rcu_nocbs=2-3")
PLAIN = "BOOT_IMAGE=/vmlinuz root=/dev/vda1 quiet"
WITH = f"{PLAIN} {' '.join(WORDS)}"


@pytest.fixture
def boots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Boots:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return Boots("tune-1", HOST, WORDS, None, PLAIN)


def due(boots: Boots, boot: str, cmdline: str, *, with_words: bool, number: int | None) -> bool:
    """Return whether a reboot to that level is due."""
    try:
        boots.check(boot, cmdline, with_words=with_words, number=number)
    except RebootDue as found:
        return found.with_words is with_words
    return False


def test_boots_each_measurement_takes_a_boot_of_its_own_and_its_level(boots: Boots) -> None:
    assert not due(boots, "one", PLAIN, with_words=False, number=1)
    boots.begin(1, "one")
    # The same measurement goes on in its boot after a cut.
    assert not due(boots, "one", PLAIN, with_words=False, number=1)
    assert due(boots, "one", PLAIN, with_words=True, number=2)
    assert not due(boots, "two", WITH, with_words=True, number=2)
    boots.begin(2, "two")
    assert due(boots, "two", WITH, with_words=True, number=3)


def test_boots_of_measurements_are_numbered_in_their_order(boots: Boots) -> None:
    for number, boot in enumerate(("one", "one", "two", "one", "three"), start=1):
        boots.begin(number, boot)
    assert [boots.number_of(number) for number in range(1, 7)] == [1, 1, 2, 1, 3, 4]


def test_boots_of_an_image_of_another_kernel_file_are_of_the_same_level(boots: Boots) -> None:
    other = PLAIN.replace("/vmlinuz", "/vmlinuz-6.1")
    assert not due(boots, "one", other, with_words=False, number=1)
    assert due(boots, "one", f"{PLAIN} debug", with_words=False, number=1)


def test_boots_last_level_needs_no_boot_of_its_own(boots: Boots) -> None:
    boots.begin(1, "one")
    assert not due(boots, "one", PLAIN, with_words=False, number=None)
    assert due(boots, "one", PLAIN, with_words=True, number=None)


def test_boots_reboot_without_the_words_is_an_error_and_no_endless_loop(boots: Boots) -> None:
    boots.ask("one", with_words=True)
    # It has not rebooted yet: the command was cut before that.
    assert due(boots, "one", PLAIN, with_words=True, number=2)
    with pytest.raises(NotBooted, match="not with the words nohz_full=2-3"):
        boots.check("two", PLAIN, with_words=True, number=2)


def test_boots_are_read_back_by_the_address_of_their_host(boots: Boots) -> None:
    assert boots_of(HOST) is None
    boots.begin(2, "two")  # the file of measurement 1 was lost
    boots.ask("two", with_words=True)
    assert boots_of(HOST) == boots
    assert boots_of(HOST) == Boots(
        "tune-1", HOST, WORDS, None, PLAIN, ["", "two"], (True, "two")
    )  # fmt: skip
    boots.settings = (Factor("KSM", needs=Needs.HOST, host={"/sys/kernel/mm/ksm/run": "0"}),)
    boots.excluded = (NotTried("EMC", "--never names it"),)
    boots.save()
    assert boots_of(HOST) == boots
    assert boots_of("ssh://root@other") is None
    boots.remove()
    assert boots_of(HOST) is None


@pytest.mark.parametrize("text", ["", "{}", '{"version": 2}', '{"version": 1}', "[1]", "\x00"])
def test_boots_file_that_is_damaged_is_one_error(boots: Boots, tmp_path: Path, text: str) -> None:
    boots.save()
    [file] = (tmp_path / "wirespeed").iterdir()
    file.write_text(text)
    with pytest.raises(BadInput, match="tune-reboot-"):
        boots_of(HOST)
