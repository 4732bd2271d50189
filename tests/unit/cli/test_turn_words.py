# SPDX-License-Identifier: Apache-2.0
"""Check the sentence on a comparison in turns."""

from __future__ import annotations

from wirespeed.cli.show.turn_words import answer_words
from wirespeed.experiment.turns import Rates, Stop, compare_in_turns
from wirespeed.model.cpus import PlacementKind


def test_answer_words_too_few_pairs_have_no_figures() -> None:
    rates: list[Rates] = [{PlacementKind.ONE_CACHE: 4e6}, {PlacementKind.ACROSS_CACHES: 2e6}] * 9
    found = compare_in_turns(lambda _: rates.pop(0), Stop(0.02, 3))
    said = answer_words("A", "B", "mrr", Stop(0.02, 3), found)
    assert said.startswith("Cannot tell whether A and B differ: an answer needs 3 pairs at least.")
    assert "unbounded" not in said
    assert "0 pairs" not in said
