# SPDX-License-Identifier: Apache-2.0
"""Check which CPUs are chosen, and which are refused."""

from __future__ import annotations

import os
from typing import cast

import pytest

from wirespeed.model.errors import BadInput
from wirespeed.qualify.cpus import chosen_cpus, usable_cpus
from wirespeed.remote.interface import Runner

USABLE = tuple(range(100))


class Isolating:
    """A host that isolates some CPUs; None: its kernel does not say."""

    def __init__(self, isolated: str | None) -> None:
        self._isolated = isolated

    def glob(self, path: str) -> tuple[str, ...]:
        return () if self._isolated is None else (path,)

    def read(self, _path: str) -> str:
        return self._isolated or ""


def chosen(text: str | None, isolated: str | None = "\n") -> tuple[int, ...]:
    return chosen_cpus(text, USABLE[:8], cast(Runner, Isolating(isolated)))


def test_usable_cpus_include_those_without_affinity_and_change_nothing() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert set(usable_cpus()) >= before
        assert os.sched_getaffinity(0) == {min(before)}
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize(
    ("text", "isolated", "cpus"),
    [
        (None, "\n", tuple(range(8))),
        (None, None, tuple(range(8))),
        (None, "2-3,6\n", (2, 3, 6)),
        (None, "2,9\n", (2,)),
        ("1-2,5", "6\n", (1, 2, 5)),
    ],
)
def test_chosen_cpus(text: str | None, isolated: str | None, cpus: tuple[int, ...]) -> None:
    assert chosen(text, isolated) == cpus


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("7-9", "CPU 8-9 is offline"),
        ("x", "not a CPU or a range"),
        ("", "names no CPU"),
        ("3-1", "not a possible range"),
    ],
)
def test_chosen_cpus_that_cannot_be_used_are_refused(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        chosen(text)


def test_chosen_cpus_too_many_at_a_time_are_refused() -> None:
    with pytest.raises(BadInput, match="100 CPUs; at most 64"):
        chosen_cpus(None, USABLE, cast(Runner, Isolating("")))
