# SPDX-License-Identifier: Apache-2.0
"""Work off the pair tests of a fleet with any number of controllers at once.

Each controller takes a test with its lease, renews the lease while it measures, and submits the
result under it. A dead controller stops renewing, and another one takes the test over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from wirespeed.model.errors import WirespeedError
from wirespeed.store.errors import StoreError
from wirespeed.store.leases import Lease, LeaseLost, renew
from wirespeed.store.pairs import PairTest, claim, complete, give_up, unsettled
from wirespeed.store.store import Store

# Share of a lease's time after which it is renewed.
_RENEW_AFTER = 1 / 3


class PairFailed(WirespeedError):
    """The measurement of a pair ended without a result."""


# Measures a pair and returns the ID of the run. Once the event is set, the lease is lost: it ends
# early, with any PairFailed.
Measure = Callable[[PairTest, Lease, threading.Event], str]
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Worker:
    """One controller."""

    store: Store
    holder: str
    lease_s: float
    """Time in s for which a dead controller's hosts stay taken."""
    poll_s: float
    """Time in s between attempts while others have every host."""
    measure: Measure
    tell: Tell


def work(worker: Worker) -> int:
    """Work until no test is left to anyone; return the number of tests completed here.

    Raises StoreError if the database is lost; a later call continues.
    """
    done = 0
    while True:
        claimed = claim(worker.store, worker.holder, worker.lease_s)
        if claimed is not None:
            done += _measure(worker, *claimed)
        elif unsettled(worker.store):
            time.sleep(worker.poll_s)
        else:
            return done


def _measure(worker: Worker, test: PairTest, lease: Lease) -> bool:
    """Measure one test; return whether it is now complete."""
    try:
        with _renewed(worker, lease) as lost:
            try:
                run_id = worker.measure(test, lease, lost)
            except PairFailed as fault:
                worker.tell(f"{test.name}: {fault.what}")
                give_up(worker.store, test, lease, fault.what)
                return False
            complete(worker.store, test, lease, run_id)
    except LeaseLost as fault:
        worker.tell(f"{test.name}: {fault.what}; {fault.next_step}")
        return False
    worker.tell(f"{test.name}: complete, run {run_id}")
    return True


@contextmanager
def _renewed(worker: Worker, lease: Lease) -> Iterator[threading.Event]:
    """Renew the lease in the body; the event is set when the lease is lost.

    A database that reports an error is asked again until the lease must have expired. So long is
    one waited for that is silent.
    """
    lost, end = threading.Event(), threading.Event()
    until = time.monotonic() + worker.lease_s

    def keep() -> None:
        nonlocal until
        while not end.wait(worker.lease_s * _RENEW_AFTER):
            asked = time.monotonic()
            try:
                renew(worker.store, lease, worker.lease_s)
                until = asked + worker.lease_s
            except LeaseLost:
                lost.set()
                return
            except StoreError as fault:
                if asked > until - worker.lease_s * _RENEW_AFTER:
                    worker.tell(fault.what)
                    lost.set()
                    return

    def watch() -> None:
        while not lost.is_set():
            left_s = until - time.monotonic()
            if left_s <= 0:
                worker.tell(f"the database has not renewed the lease within {worker.lease_s:g} s")
                lost.set()
            elif end.wait(left_s):
                return

    threads = [threading.Thread(target=each, daemon=True) for each in (keep, watch)]
    for thread in threads:
        thread.start()
    try:
        yield lost
    finally:
        end.set()
        for thread in threads:
            thread.join()
