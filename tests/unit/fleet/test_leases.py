# SPDX-License-Identifier: Apache-2.0
"""Test that a lease covers all its resources or none, expires, and is useless afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text, update

from tests.support.postgres import Cluster, cluster
from wirespeed.model.errors import BadInput
from wirespeed.store.errors import StoreError
from wirespeed.store.leases import Lease, LeaseLost, acquire, check_can_lease, release, renew
from wirespeed.store.pairs import (
    MAX_ATTEMPTS,
    PairState,
    PairTest,
    add_pairs,
    claim,
    complete,
    give_up,
    list_pairs,
    try_again,
    unsettled,
)
from wirespeed.store.store import Store
from wirespeed.store.tables import LEASES

LONG = 600.0


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with cluster() as made:
        yield made


@pytest.fixture
def store(running: Cluster) -> Iterator[Store]:
    with Store(running.url) as opened:
        with opened.begin() as connection:
            connection.execute(text("TRUNCATE leases, pair_tests"))
        yield opened


def take(store: Store, *resources: str, holder: str = "a", seconds: float = LONG) -> Lease | None:
    with store.transaction() as connection:
        return acquire(connection, resources, holder, seconds)


def expire(store: Store) -> None:
    """Let every lease expire."""
    with store.transaction() as connection:
        connection.execute(
            update(LEASES).values(expires_at=text("clock_timestamp() - interval '1 ms'"))
        )


def test_all_or_nothing(store: Store) -> None:
    first = take(store, "host:1", "host:2")
    assert first is not None
    assert take(store, "host:2", "host:3", holder="b") is None
    third = take(store, "host:3", holder="b")
    assert third is not None


def test_given_back_it_is_free_and_the_next_token_is_higher(store: Store) -> None:
    first = take(store, "host:1", "host:2")
    assert first is not None
    with store.transaction() as connection:
        release(connection, first)
    second = take(store, "host:2", "host:3", holder="b")
    assert second is not None
    assert second.token > first.token


def test_an_expired_lease_is_free_and_cannot_be_used(store: Store) -> None:
    first = take(store, "host:1")
    assert first is not None
    renew(store, first, LONG)
    expire(store)
    with pytest.raises(LeaseLost, match="has expired"):
        renew(store, first, LONG)
    second = take(store, "host:1", holder="a")
    assert second is not None
    with pytest.raises(LeaseLost):
        renew(store, first, LONG)
    with store.transaction() as connection:
        release(connection, first)
    assert take(store, "host:1", holder="b") is None, "the old holder gave back another's lease"


def test_many_at_once_get_each_host_once(store: Store) -> None:
    def one(number: int) -> Lease | None:
        return take(store, "host:1", f"host:{2 + number % 3}", holder=str(number))

    with ThreadPoolExecutor(8) as pool:
        got = [lease for lease in pool.map(one, range(24)) if lease is not None]
    assert len(got) == 1


def test_sqlite_cannot_lease(tmp_path: object) -> None:
    with pytest.raises(BadInput, match="need PostgreSQL"):
        check_can_lease(f"{tmp_path}/a.sqlite")
    assert not (tmp_path / "a.sqlite").exists()


PAIR = PairTest("a-b", "wire", "", ("host:a", "host:b"))


def test_a_pair_of_a_dead_controller_is_taken_over_and_done_once(store: Store) -> None:
    add_pairs(store, [PAIR, PairTest("b-c", "wire", "", ("host:b", "host:c"))])
    taken = claim(store, "dies", LONG)
    assert taken is not None
    assert claim(store, "other", LONG) is None, "b-c shares host b"
    expire(store)
    again = claim(store, "other", LONG)
    assert again is not None
    expire(store)
    last = claim(store, "third", LONG)
    assert last is not None
    for test, lease in (taken, again):
        with pytest.raises(LeaseLost):
            complete(store, test, lease, "wire-1")
    complete(store, *last, "wire-2")
    done = [one for one in list_pairs(store) if one.state is PairState.COMPLETE]
    assert [(one.test.name, one.run_id) for one in done] == [(last[0].name, "wire-2")]
    assert unsettled(store) == 1


def test_after_too_many_failures_a_person_is_asked(store: Store) -> None:
    add_pairs(store, [PAIR])
    for _ in range(MAX_ATTEMPTS):
        claimed = claim(store, "a", LONG)
        assert claimed is not None
        give_up(store, *claimed, "port down")
    assert claim(store, "a", LONG) is None
    (one,) = list_pairs(store)
    assert (one.state, one.error) == (PairState.FAILED, "port down")
    assert try_again(store) == 1
    assert claim(store, "a", LONG) is not None


def test_a_database_that_is_gone_is_reported_once(running: Cluster, store: Store) -> None:
    lease = take(store, "host:1")
    assert lease is not None
    running.stop()
    try:
        with pytest.raises(StoreError) as told:
            renew(store, lease, LONG)
        assert "Check that the database can be reached" in told.value.next_step
    finally:
        running.start()
    renew(store, lease, LONG)
