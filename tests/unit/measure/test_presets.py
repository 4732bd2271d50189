# SPDX-License-Identifier: Apache-2.0
"""Check that a study's own value reaches the search, and that meaningless ones are rejected."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from wirespeed.measure.interface import BadSearch
from wirespeed.measure.presets import PRESETS, REQUIRED, resolve
from wirespeed.measure.search.fixed import Fixed
from wirespeed.measure.search.mlr import Mlr
from wirespeed.measure.search.rfc2544 import Rfc2544
from wirespeed.measure.search.tst009 import Tst009
from wirespeed.model.study.spec import Search, SearchKind

PAGE = Path(__file__).parents[3] / "docs/reference/searches.md"


def test_every_kind_has_a_preset() -> None:
    assert set(PRESETS) == set(SearchKind)


def test_a_search_without_keys_is_its_preset() -> None:
    assert resolve(Search(SearchKind.MLR)) == PRESETS[SearchKind.MLR]


def test_the_studys_values_win() -> None:
    rfc2544 = resolve(Search(SearchKind.RFC2544, trial_s=120.0, width=0.01))
    assert isinstance(rfc2544.search, Rfc2544)
    assert (rfc2544.search.trial_s, rfc2544.search.width) == (120.0, 0.01)
    tst009 = resolve(Search(SearchKind.TST009, step_fps=1e3, max_r=0, max_z=7))
    assert tst009.search == Tst009(trial_s=60.0, step_fps=1e3, max_r=0, max_z=7)
    mlr = resolve(Search(SearchKind.MLR, pdr_loss=0.001, extension=3, latency_trial_s=9.0))
    assert isinstance(mlr.search, Mlr)
    assert mlr.search.pdr_loss == 0.001
    assert (mlr.extension, mlr.latency_trial_s) == (3, 9.0)
    fixed = resolve(Search(SearchKind.FIXED, load_fps=5e6))
    assert isinstance(fixed.search, Fixed)
    assert fixed.search.load_fps == 5e6
    mrr = resolve(Search(SearchKind.MRR, trial_s=5.0))
    assert mrr.mrr is not None
    assert mrr.mrr.trial_s == 5.0


def test_trials_over_all_time_are_no_longer_than_the_searchs() -> None:
    assert resolve(Search(SearchKind.RFC2544)).as_is_trial_s == 10.0
    assert resolve(Search(SearchKind.RFC2544, trial_s=4.0)).as_is_trial_s == 4.0
    assert resolve(Search(SearchKind.FIXED, load_fps=1e6, trial_s=4.0)).as_is_trial_s is None


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (Search(SearchKind.MLR, step_fps=1e3), "search.step_fps does not apply to .* mlr"),
        (Search(SearchKind.QUICK, load_fps=1e6), "search.load_fps does not apply to .* quick"),
        (Search(SearchKind.FIXED, load_fps=1e6, width=0.1), "search.width does not apply"),
        (Search(SearchKind.MRR, max_r=1), "search.max_r does not apply to .* mrr"),
        (Search(SearchKind.FIXED), "fixed needs search.load_fps"),
        (Search(SearchKind.SOAK), "soak needs search.load_fps"),
    ],
)
def test_a_value_that_means_nothing_is_refused(search: Search, message: str) -> None:
    with pytest.raises(BadSearch, match=message) as caught:
        resolve(search)
    assert caught.value.next_step


@pytest.mark.parametrize(
    ("search", "conformant"),
    [
        (Search(SearchKind.RFC2544), True),
        (Search(SearchKind.RFC2544, trial_s=10.0), False),
        (Search(SearchKind.TST009), False),
        (Search(SearchKind.MLR), False),
        (Search(SearchKind.QUICK, trial_s=60.0), False),
        (Search(SearchKind.MRR), False),
        (Search(SearchKind.FIXED, load_fps=1e6, trial_s=60.0), True),
    ],
)
def test_only_searches_that_keep_the_rules_are_called_conformant(
    search: Search, conformant: bool
) -> None:
    assert resolve(search).conformant is conformant


@pytest.mark.parametrize("kind", SearchKind)
def test_the_reference_page_shows_the_parameters_in_use(kind: SearchKind) -> None:
    """Each preset's section has a table row `| parameter | value |` for each parameter."""
    section = re.search(rf"^## {kind.value}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)
    assert section is not None, f"{PAGE} has no section ## {kind.value}"
    shown = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", section[1], re.M))
    assert shown == parameters(kind)


def parameters(kind: SearchKind) -> dict[str, str]:
    preset = PRESETS[kind]
    inner = preset.search or preset.mrr
    assert inner is not None
    rows = {f.name: getattr(inner, f.name) for f in fields(inner) if f.name != "throughput"}
    rows["extension"] = preset.extension
    if preset.as_is_trial_s is not None:
        rows["as_is_trial_s"] = preset.as_is_trial_s
    return {name: shown_value(value) for name, value in rows.items()}


def shown_value(value: float) -> str:
    return "required" if value == REQUIRED else f"{value:g}"
