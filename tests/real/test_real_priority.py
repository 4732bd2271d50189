# SPDX-License-Identifier: Apache-2.0
"""Read who runs with which priority while a bench is up on this host."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from wirespeed.bench.host.host import changing_host
from wirespeed.bench.host.priority import polling_first
from wirespeed.remote.local import LocalRunner

pytestmark = pytest.mark.usefixtures("needs_root")

POLICY = "import os; print(os.sched_getscheduler(0))"


def own() -> tuple[int, int, int]:
    return os.sched_getscheduler(0), os.sched_getparam(0).sched_priority, os.nice(0)


def test_the_controller_alone_is_real_time_while_a_bench_is_up(tmp_path: Path) -> None:
    before, runner = own(), LocalRunner()
    log = str(tmp_path / "log")
    with changing_host(runner, tmp_path) as host:
        with polling_first(host) as said:
            assert own() == (os.SCHED_RR, 1, -20)
            assert said.endswith("controller SCHED_RR")
            program = host.spawn(["sleep", "60"], log=log)
            started = os.sched_getscheduler(program.pid)
            niceness = os.getpriority(os.PRIO_PROCESS, program.pid)
            command = runner.run([sys.executable, "-c", POLICY]).stdout
            program.signal(signal.SIGKILL)
            program.wait(10)
        assert (started, niceness) == (os.SCHED_OTHER, -20)
        assert int(command) == os.SCHED_RR, "the controller waits for it"
        assert own() == before
