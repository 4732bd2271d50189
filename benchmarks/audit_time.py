# SPDX-License-Identifier: Apache-2.0
"""Time the command `wirespeed audit`, start and exit included.

The product promises that the audit of this machine ends within 2 s; the ratio is to that promise.
The parts are timed in one process: reading the host, and the 50 rules on the largest recorded host.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.shared.figures import show

from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.host.collect import collect
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.recorded import RecordedRunner

PROMISE_S = 2.0
ROUNDS = 5
LARGEST = Path(__file__).parents[1] / "tests" / "hosts" / "s2-r730"


def median_s(action: Callable[[], object]) -> float:
    """Return the median wall time of ROUNDS runs."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return sorted(times)[ROUNDS // 2]


def command() -> None:
    argv = [sys.executable, "-m", "wirespeed.cli.main", "audit", "--format", "json"]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    whole_s = median_s(command)
    show("audit_this_machine", whole_s, "s", whole_s / PROMISE_S, "promise-2s")
    show("audit_collect_this_machine", median_s(lambda: collect(LocalRunner())), "s")
    host = RecordedRunner.open(str(LARGEST))
    show("audit_collect_88_cpus_recorded", median_s(lambda: collect(host)), "s")
    subject = Subject(collect(host))
    show("audit_50_rules_88_cpus", median_s(lambda: audit(subject, all_rules())), "s")


if __name__ == "__main__":
    main()
