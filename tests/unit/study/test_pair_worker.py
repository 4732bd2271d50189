# SPDX-License-Identifier: Apache-2.0
"""Test that a controller whose database is silent gives its lease up when it has expired."""

from __future__ import annotations

import threading
from typing import cast

import pytest

from wirespeed.store.leases import Lease, LeaseLost
from wirespeed.store.pairs import PairTest
from wirespeed.store.store import Store
from wirespeed.study import pair_worker
from wirespeed.study.pair_worker import PairFailed, Worker, work

TEST = PairTest("a-b", "wire", "", ("host:a",))
LEASE = Lease("me", 1, ("host:a",))


def test_lease_of_a_silent_database_is_lost_while_it_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers, said = threading.Event(), []

    def silent(*_: object) -> None:
        assert answers.wait(60)

    def measure(_test: PairTest, _lease: Lease, lost: threading.Event) -> str:
        assert lost.wait(60)
        answers.set()
        raise PairFailed("the lease was lost")

    def expired(*_: object) -> None:
        raise LeaseLost("the lease of host:a has expired", "Another controller has it.")

    claims = iter([(TEST, LEASE), None])
    monkeypatch.setattr(pair_worker, "claim", lambda *_: next(claims))
    monkeypatch.setattr(pair_worker, "unsettled", lambda _: False)
    monkeypatch.setattr(pair_worker, "renew", silent)
    monkeypatch.setattr(pair_worker, "give_up", expired)
    worker = Worker(cast(Store, None), "me", 0.3, 0.1, measure, said.append)
    assert work(worker) == 0
    assert said[0] == "the database has not renewed the lease within 0.3 s"
    assert said[-1].startswith("a-b: the lease of host:a has expired")
