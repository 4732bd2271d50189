# SPDX-License-Identifier: Apache-2.0
"""Check that CPU lists and masks match the spelling of the kernel, Nova and the papers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.model.cpuset import format_list, format_mask, parse_list, parse_mask

CPUS = st.sets(st.integers(0, 300)).map(lambda cpus: tuple(sorted(cpus)))


@given(CPUS)
def test_lists_and_masks_survive_a_round_trip(cpus: tuple[int, ...]) -> None:
    assert parse_list(format_list(cpus)) == cpus
    assert parse_mask(format_mask(cpus)) == cpus


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", ()),
        ("0-2,5\n", (0, 1, 2, 5)),
        ("managed_irq,domain,2-3", (2, 3)),  # isolcpus= with flags
        ("0-5,^2", (0, 1, 3, 4, 5)),  # Nova excludes with ^
        ("0-9:2/4", (0, 1, 4, 5, 8, 9)),  # kernel stride
        ("1, 2, 3", (1, 2, 3)),
    ],
)
def test_lists(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_list(text) == cpus


def test_masks_of_the_papers() -> None:
    assert parse_mask("0xC") == (2, 3)
    assert parse_mask("0x400004") == (2, 22)
    assert parse_mask("3000000003") == (0, 1, 36, 37)
    assert parse_mask("100601004100601004") == (2, 12, 21, 22, 32, 38, 48, 57, 58, 68)
    assert format_mask((2, 12, 21, 22, 32, 38, 48, 57, 58, 68)) == "0x100601004100601004"
    assert format_list(set(range(72)) - {0, 1, 36, 37}) == "2-35,38-71"


@pytest.mark.parametrize("text", ["x", "3-1", "1-", "-1", "0-99999999999", "0-3:0/2", "1..3"])
def test_a_list_that_is_none_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="CPU list"):
        parse_list(text)


@pytest.mark.parametrize("text", ["", "0xzz", "-3", "f" * 20000])
def test_a_mask_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="CPU mask"):
        parse_mask(text)
