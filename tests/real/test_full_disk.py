# SPDX-License-Identifier: Apache-2.0
"""Test a disk that really fills up: a file system of 512 KiB under the store."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.fake_rig import FACTS, FakeHost
from tests.support.sample import Nobody
from wirespeed.store.errors import StoreError
from wirespeed.store.read import read_run
from wirespeed.store.records import PointState
from wirespeed.store.run_writer import Origin, RunWriter
from wirespeed.store.store import Store
from wirespeed.study.load import load_study
from wirespeed.study.run import run_study


def fill(path: Path) -> None:
    """Write until the file system is full."""
    file = os.open(path, os.O_CREAT | os.O_WRONLY)
    with pytest.raises(OSError, match="No space left"):
        write_for_ever(file)
    os.close(file)


def write_for_ever(file: int) -> None:
    while True:
        os.write(file, b"x" * 4096)


def test_a_full_disk_ends_the_run_and_keeps_its_results(small_disk: Path) -> None:
    study = load_study("wire", ["vary.sut.impair.rate_fps=[1e6, 2e6, 3e6]"])
    ballast = small_disk / "ballast"

    def fill_during_second_point(trial: int) -> None:
        if len(host.opened) == 2 and trial == 3:
            fill(ballast)

    host = FakeHost(before_trial=fill_during_second_point)
    with Store(str(small_disk / "runs.sqlite")) as store:
        writer = RunWriter.start(store, study, Origin([], {}, FACTS))
        with pytest.raises(StoreError, match="disk is full") as error:
            run_study(study, writer, host.rig, Nobody())
        assert "--resume" in error.value.next_step
        assert host.closed == len(host.opened) == 2

        ballast.unlink()
        kept = read_run(store, writer.run_id)
        assert kept.points[0].state is PointState.COMPLETE
        assert kept.points[0].result is not None
        assert kept.points[2].state is PointState.PENDING

        run_study(study, writer, FakeHost().rig, Nobody())
        assert read_run(store, writer.run_id).complete
