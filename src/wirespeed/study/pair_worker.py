# SPDX-License-Identifier: Apache-2.0
"""How are the pair tests of a fleet worked off by any number of controllers at once?

Each takes a test with its lease, renews the lease while it measures, and hands the result in under
it. Whoever dies stops renewing, and another takes the test over.
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

# Of a lease's time, after which it is renewed.
_RENEW_AFTER = 1 / 3


class PairFailed(WirespeedError):
    """The measurement of a pair ended without a result."""


# Measures a pair and returns the id of the run. It ends early, with any PairFailed, once the event
# is set: then the lease is lost.
Measure = Callable[[PairTest, Lease, threading.Event], str]
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Worker:
    """One controller. lease_s: for how long a dead one's hosts stay taken. poll_s: how often to
    look again while others have every host."""

    store: Store
    holder: str
    lease_s: float
    poll_s: float
    measure: Measure
    tell: Tell


def work(worker: Worker) -> int:
    """Until no test is left, by us or by others; returns how many we completed.

    Raises StoreError where the database is gone: run again, it goes on.
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
    """Whether it is complete now."""
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
    """Renews the lease in the body; the event is set when it is lost.

    A database that does not answer for a while is asked again until the lease's time must be up.
    """
    lost, end = threading.Event(), threading.Event()

    def keep() -> None:
        until = time.monotonic() + worker.lease_s
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

    thread = threading.Thread(target=keep, name="lease", daemon=True)
    thread.start()
    try:
        yield lost
    finally:
        end.set()
        thread.join()
