# SPDX-License-Identifier: Apache-2.0
"""Run a controller that measures pair tests, as a program that a test may kill at any moment.

The measurements are simulated; store, leases, worker and fences are the product's. A target is a
directory. A controller inside its fence writes its pid there. A pid of another living process there
is an overlap, which is recorded.

python -m tests.unit.fleet.controller URL HOLDER FOLDER LEASE_S
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.unit.store.test_store import ORIGIN
from wirespeed.remote.fence import Fenced, fenced
from wirespeed.remote.local import LocalRunner
from wirespeed.store.leases import Lease
from wirespeed.store.pairs import PairTest
from wirespeed.store.run_writer import RunWriter
from wirespeed.store.store import Store
from wirespeed.study.load import load_study
from wirespeed.study.pair_worker import PairFailed, Worker, work

MEASURES_S = 0.3
OVERLAPS = "overlaps"


def main(url: str, holder: str, folder: str, lease_s: str) -> None:
    with Store(url) as store:
        targets = Path(folder)

        def measure(test: PairTest, lease: Lease, lost: threading.Event) -> str:
            with ExitStack() as stack:
                for name in test.resources:
                    stack.enter_context(_inside(targets / name.replace(":", "-"), lease))
                if lost.wait(MEASURES_S):
                    raise PairFailed("the lease was lost")
            writer = RunWriter.start(store, load_study("wire"), ORIGIN)
            writer.finish()
            return writer.run_id

        def tell(sentence: str) -> None:
            print(sentence, flush=True)

        work(Worker(store, holder, float(lease_s), 0.1, measure, tell))


@contextmanager
def _inside(target: Path, lease: Lease) -> Iterator[None]:
    try:
        with fenced(LocalRunner(target.name), lease.token, str(target)):
            taken = target / "taken"
            try:
                other = int(taken.read_text() or 0)
            except FileNotFoundError:
                other = 0
            if other and Path(f"/proc/{other}").exists():
                with (target.parent / OVERLAPS).open("a") as overlaps:
                    overlaps.write(f"{target.name}: {other} and {os.getpid()}\n")
            taken.write_text(str(os.getpid()))
            with (target / "journal").open("a") as journal:
                journal.write(f"{lease.token} {time.monotonic_ns()}\n")
            try:
                yield
            finally:
                taken.unlink()
    except Fenced as fault:
        raise PairFailed(fault.what) from fault


if __name__ == "__main__":
    main(*sys.argv[1:])
