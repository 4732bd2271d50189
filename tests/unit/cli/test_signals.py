# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import asleep, until
from wirespeed.store.read import read_run
from wirespeed.store.records import PointState
from wirespeed.store.store import Store


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_undoes_the_bench_and_keeps_the_run(tmp_path: Path, number: int) -> None:
    marker, store = tmp_path / "closed", str(tmp_path / "runs.sqlite")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.unit.cli.interrupted", str(marker), "run", "wire",
         "--store", store],
        cwd=Path(__file__).parents[3], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stderr is not None
    said: list[str] = []
    while "waiting" not in (line := process.stderr.readline()):
        assert line, "".join(said)
        said.append(line)
    assert not marker.exists()
    until(lambda: asleep(process.pid), "the rig waits")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert out == ""
    assert marker.exists()
    assert "wirespeed run wire-1 --resume" in err
    assert f"ended by {signal.Signals(number).name}" in err
    assert "Traceback" not in err
    with Store(store) as opened:
        (point,) = read_run(opened, "wire-1").points
    assert point.state is PointState.RUNNING
    assert len(point.trials) == 3
