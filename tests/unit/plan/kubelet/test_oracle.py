# SPDX-License-Identifier: Apache-2.0
"""Compare the prediction with the kubelet's own code on random machines (make test-kubelet)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

import pytest

from tests.unit.plan.kubelet.case import Case, document, ours
from tests.unit.plan.kubelet.oracle import ask, same, smallest
from tests.unit.plan.kubelet.random_cases import every_policy, random_machine

ORACLE = os.environ.get("WIRESPEED_KUBELET_ORACLE", "")
# Each machine is tried with 7 combinations of policy and scope.
MACHINES = int(os.environ.get("WIRESPEED_KUBELET_MACHINES", "1000"))
BATCH = 100

pytestmark = pytest.mark.skipif(not ORACLE, reason="needs kubernetes/oracle: make test-kubelet")


@pytest.mark.parametrize("batch", range((MACHINES + BATCH - 1) // BATCH))
def test_kubelet_random_machines_prediction_equals_oracle(batch: int) -> None:
    seeds = range(batch * BATCH, min(MACHINES, (batch + 1) * BATCH))
    cases = [case for seed in seeds for case in every_policy(random_machine(Random(seed)))]
    answers = ask(Path(ORACLE), cases)
    for case, answer in zip(cases, answers, strict=True):
        if not same(ours(case), answer):
            pytest.fail(_report(smallest(case, _differs)))


def test_smallest_planted_difference_shrinks_to_one_container() -> None:
    """The shrinker itself: a prediction that is wrong for every pod needs one container alone."""
    case = next(c for c in every_policy(random_machine(Random(3))) if len(c.pods) > 1)
    least = smallest(case, lambda smaller: bool(ours(smaller).get("pods")))
    assert [len(pod.containers) for pod in least.pods] == [1]


def _differs(case: Case) -> bool:
    return not same(ours(case), ask(Path(ORACLE), [case])[0])


def _report(case: Case) -> str:
    theirs = ask(Path(ORACLE), [case])[0]
    return f"case    {json.dumps(document(case))}\nours    {ours(case)}\nkubelet {theirs}"
