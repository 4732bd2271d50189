# SPDX-License-Identifier: Apache-2.0
"""Test the evidence that a rule of vendors' advice cites."""

from __future__ import annotations

from datetime import date

import pytest

from wirespeed.audit import evidence as module
from wirespeed.audit.evidence import ADVICE, effects_in, measured_effects
from wirespeed.audit.registry import all_rules, rule_named

HEAD = "rule,change,point,effect_percent,low_percent,high_percent,pairs,date,source\n"
ROW = 'WS61,vm.stat_interval from 1 to 10,"p2p, 64 B",0.31,-0.4,1.02,12,2026-11-30,"2 CPUs"\n'


def test_evidence_of_a_rule_that_was_measured_is_its_effect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "measured_effects", lambda: effects_in(HEAD + ROW))
    assert rule_named("WS61").cited.endswith(
        "; measured here: +0.3% (95%: -0.4 to +1.0%) at p2p, 64 B by vm.stat_interval from 1 to "
        "10, 12 pairs, 2026-11-30, 2 CPUs"
    )
    assert rule_named("WS60").cited.endswith(f"; {ADVICE}")
    assert rule_named("WS01").cited == rule_named("WS01").source


@pytest.mark.parametrize("table", [HEAD + "WS61,x,y,much,0,0,1,d,s\n", "rule\nWS61\n"])
def test_evidence_of_another_form_is_refused(table: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        effects_in(table)


def test_measured_effects_are_of_rules_that_vendors_advise() -> None:
    advised = {rule.id for rule in all_rules() if rule.vendor_advice}
    for rule, effect in measured_effects().items():
        assert rule in advised
        assert effect.low_percent <= effect.effect_percent <= effect.high_percent
        assert date.fromisoformat(effect.date)
