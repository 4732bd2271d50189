# SPDX-License-Identifier: Apache-2.0
"""Replay answers of the kubelet's own code against the prediction."""

from __future__ import annotations

import json
from collections import Counter

from tests.unit.plan.kubelet.case import Document, ours
from tests.unit.plan.kubelet.oracle import same
from tests.unit.plan.kubelet.record import RECORDED, digest, recorded_case


def _answers() -> list[Document]:
    found: list[Document] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def test_kubelet_recorded_cases_are_those_of_the_generator() -> None:
    """Record again after a change of the generator: make record-kubelet."""
    changed = [n for n, r in enumerate(_answers()) if digest(recorded_case(n)) != r["case"]]
    assert not changed


def test_kubelet_prediction_equals_recorded_answers() -> None:
    different = [
        n for n, r in enumerate(_answers()) if not same(ours(recorded_case(n)), r["answer"])
    ]
    assert not different


def test_kubelet_recorded_answers_have_every_kind() -> None:
    answers = [record["answer"] for record in _answers()]
    kinds = Counter(pod.get("reason", "admitted") for a in answers for pod in a.get("pods", ()))
    kinds.update("start_error" for answer in answers if "start_error" in answer)
    for kind in (
        "admitted", "TopologyAffinityError", "SMTAlignmentError", "UnexpectedAdmissionError",
        "start_error",
    ):  # fmt: skip
        assert kinds[kind] > 20, kinds
