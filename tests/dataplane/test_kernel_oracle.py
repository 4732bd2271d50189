# SPDX-License-Identifier: Apache-2.0
"""Check frames of a router against the kernel's answers in random routing states.

tests/router has the long form: 10,000 states, also of FRR and BIRD.
"""

from __future__ import annotations

import random

import pytest

from tests.router.oracle import check_shares, compare_states, oracle
from tests.support.effort import effort

pytestmark = pytest.mark.root

STATES, SEED = effort(250, 1000), 32


def test_router_forwards_as_the_kernel_answers_in_random_states() -> None:
    with oracle() as made:
        seen = compare_states(made, STATES, SEED, addresses=8, most=3, with_objects=False)
        assert seen.differences == []
        assert seen.changes > STATES  # that the kernel took
        check_shares(made, random.Random(SEED), groups=2)
        figures = made.router.figures()
        assert (figures["malformed"], figures["sampled_wrong"]) == (0, 0)
        assert figures["refused_table"] > 0
