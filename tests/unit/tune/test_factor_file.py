# SPDX-License-Identifier: Apache-2.0
"""Files of factors with several other levels."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirespeed.model.errors import BadInput
from wirespeed.model.study.spec import Frames
from wirespeed.study.expand import parameters
from wirespeed.tune.choose import Wanted, chosen
from wirespeed.tune.factor import Factor, groups_of
from wirespeed.tune.factor_file import read_factors
from wirespeed.tune.search import check_combinations, effort_within, most_measurements

RINGS = """
[[factor]]
name = "descriptors"
levels = [
    { "sut.vswitch.descriptors" = 256 },
    { "sut.vswitch.descriptors" = 1024 },
    { "sut.vswitch.descriptors" = 4096, memory_mib = 64 },
]

[[factor]]
name = "SMC"
"sut.vswitch.ovs.smc" = true
"""


def read(folder: Path, text: str) -> tuple[Factor, ...]:
    file = folder / "factors.toml"
    file.write_text(text)
    return read_factors(file)


def test_levels_of_a_factor_are_tried_but_for_the_present_one(tmp_path: Path) -> None:
    factors = read(tmp_path, RINGS)
    base = parameters(Frames())  # its rings have 1024 descriptors
    tried, excluded = chosen(factors, base, Wanted(), lambda _workload: None, own=True)
    assert [factor.name for factor in tried] == [
        "descriptors: sut.vswitch.descriptors = 256", "descriptors: sut.vswitch.descriptors = 4096",
        "SMC",
    ]  # fmt: skip
    assert groups_of(tried) == (2, 1)
    assert excluded[0].why == "it is the present level"
    effort = effort_within(tried, None, 10.0)
    assert most_measurements(tried, effort) > 48
    check_combinations(tried, base, lambda _workload: None, effort, 1)


def test_levels_are_named_and_limited_as_one_factor(tmp_path: Path) -> None:
    factors = read(tmp_path, RINGS)
    base = parameters(Frames())
    tried, _ = chosen(
        factors, base, Wanted(never=("SMC",), more_memory_mib=0), lambda _workload: None, own=True
    )
    assert [factor.sets["sut.vswitch.descriptors"] for factor in tried] == [256]


def test_too_many_levels_are_refused_with_a_next_step(tmp_path: Path) -> None:
    levels = ", ".join(f'{{ "sut.vswitch.mtu" = {mtu} }}' for mtu in range(1500, 1560))
    factors = read(tmp_path, f'[[factor]]\nname = "MTU"\nlevels = [{levels}]\n')
    with pytest.raises(BadInput, match="60 levels of 1 factors: a search takes at most 48"):
        chosen(factors, parameters(Frames()), Wanted(), lambda _workload: None, own=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("levels = []", "must be tables"),
        ("levels = [5]", "must be tables"),
        ('levels = [{ "sut.vswitch.mtu" = 1500, needs = "host" }]', "next to `levels`"),
        ('levels = [{ "sut.vswitch.mtu" = 1500 }]\ncpus = 1', "must be in a level"),
        ('levels = [{ "sut.vswitch.mut" = 1500 }]', "Did you mean"),
        ("levels = [{ cpus = 1 }]", "sets nothing"),
        (
            'levels = [{ "sut.vswitch.mtu" = 1500 }, { "sut.vswitch.mtu" = 1500 }]',
            "is a level twice",
        ),
    ],
)
def test_bad_levels_are_one_error(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        read(tmp_path, f'[[factor]]\nname = "d"\n{text}\n')
    assert said in str(error.value.what)


def test_two_factors_of_one_name_are_refused(tmp_path: Path) -> None:
    one = '[[factor]]\nname = "d"\n"sut.vswitch.mtu" = 2000\n'
    with pytest.raises(BadInput, match="is the name of another factor, too"):
        read(tmp_path, one + one)
