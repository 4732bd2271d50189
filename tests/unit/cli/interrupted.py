# SPDX-License-Identifier: Apache-2.0
"""Run `wirespeed` on a rig that waits in its fourth trial until a signal comes.

python -m tests.unit.cli.interrupted MARKER ARGUMENT... ; MARKER is made when the bench is closed.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.fake_rig import FakeBench, FakeHost
from wirespeed.cli.main import main
from wirespeed.model.plan.plan import Plan
from wirespeed.model.study.spec import Frames
from wirespeed.session import rig
from wirespeed.study.interface import Rig


def wait_in_fourth(trial: int) -> None:
    if trial == 3:
        sys.stderr.write("waiting\n")
        sys.stderr.flush()
        signal.pause()


def waiting_rig(marker: Path) -> Rig:
    host = FakeHost(3e6, before_trial=wait_in_fourth)
    inner = host.rig

    @contextmanager
    def opened(spec: Frames, plan: Plan, name: str) -> Iterator[FakeBench]:
        try:
            with inner.open_bench(spec, plan, name) as bench:
                assert isinstance(bench, FakeBench)
                yield bench
        finally:
            marker.touch()

    return Rig(inner.facts, inner.plan, opened, inner.open_own)


if __name__ == "__main__":
    marker = Path(sys.argv.pop(1))
    rig.local_rig = lambda: waiting_rig(marker)
    main()
