# SPDX-License-Identifier: Apache-2.0
"""Check `wirespeed kpi` from the outside: recordings, bad input, kills, exports, the exporter."""

from __future__ import annotations

import csv
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.waiting import until
from tests.unit.cli.conftest import Command
from wirespeed.cli.verbs.kpi_recorder import ClockSteps
from wirespeed.model.result.recording import Chunk, RecordedSeries, RecordingClock
from wirespeed.model.result.series import SeriesKind
from wirespeed.store.recording_writer import RecordingWriter
from wirespeed.store.store import Store

WIRESPEED = (sys.executable, "-m", "wirespeed.cli.main", "kpi")


@contextmanager
def started(*words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*WIRESPEED, *words], stderr=subprocess.PIPE, stdin=subprocess.PIPE, text=True,
        env={**os.environ, **environment}, start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    return process.stderr.readline()


def test_recording_is_listed_shown_marked_exported_and_cleaned(
    wirespeed: Command, tmp_path: Path
) -> None:
    collectors = ("--collector", "cpu", "--collector", "interrupts")
    recorded = wirespeed("kpi", "record", "--for", "1.5s", *collectors)
    assert recorded.code == 0, recorded.err
    assert wirespeed("kpi", "mark", "changed \x1b[31mtxqs").code == 0
    [found] = json.loads(wirespeed("kpi", "list", "--json").out)
    assert found["id"] == "kpi-1"
    assert found["finished_at"] is not None
    assert found["samples"] > 0
    shown = wirespeed("kpi", "show", "latest")
    assert "user: changed \\x1b[31mtxqs" in shown.out
    table, text = tmp_path / "x.csv", tmp_path / "x.om"
    files = ("--csv", str(table), "--openmetrics", str(text))
    assert wirespeed("kpi", "export", "kpi-1", *files).code == 0
    rows = list(csv.DictReader(table.open()))
    assert len(rows) == found["samples"]
    assert set(rows[0]) == {
        "series", "labels", "unit", "kind", "epoch", "begin_ns", "end_ns", "value",
    }  # fmt: skip
    assert all(int(row["begin_ns"]) < int(row["end_ns"]) for row in rows)
    lines = text.read_text().splitlines()
    assert lines[-1] == "# EOF"
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert families == sorted(families)
    assert wirespeed("kpi", "clean", "--keep", "1d").out == "0 recordings deleted.\n"
    assert wirespeed("kpi", "clean", "--size", "1").out == "1 recording deleted.\n"
    assert json.loads(wirespeed("kpi", "list", "--json").out) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["record", "--collector", "cpuu"], "collector 'cpuu': unknown"),
        (["record", "--rate", "99"], "rate 99 Hz: not within 1 and 50"),
        (["record", "--for", "soon"], "--for soon: not a duration"),
        (["record", "--host", "ftp://x"], "ftp://x"),
        (["record", "--host", "ssh://root@127.0.0.1:1", "--for", "1s"], "could not be reached"),
        (["cost"], "no such file, so no run yet"),
        (["exporter", "--listen", "0.0.0.0:0"], "others can reach this address"),
        (["exporter", "--listen", "nowhere"], "not an address and a port"),
        (["exporter", "--listen", "127.0.0.1:70000"], "not an address and a port"),
        (["export"], "names no file"),
        (["mark", " "], "mark of 0 characters: not within 1 and 500"),
        (["clean"], "nothing is named to delete"),
        (["clean", "--recording", "kpi-1", "--size", "1"], "--recording goes with neither"),
        (["clean", "--size", "many"], "--size many: not a size"),
    ],
)
def test_bad_input_is_one_sentence_and_ends_with_2(
    wirespeed: Command, words: list[str], said: str
) -> None:
    ended = wirespeed("kpi", *words)
    assert ended.code == 2
    assert said in ended.err
    assert "Traceback" not in ended.err


def test_host_that_cannot_be_reached_ends_the_recordings_of_those_before_it(
    wirespeed: Command,
) -> None:
    hosts = ("--host", "localhost", "--host", "ssh://root@127.0.0.1:1")
    ended = wirespeed("kpi", "record", *hosts, "--collector", "cpu", "--for", "1s")
    assert ended.code == 2
    assert "could not be reached" in ended.err
    [found] = json.loads(wirespeed("kpi", "list", "--json").out)
    assert found["finished_at"] is not None


def test_stepped_wall_clock_is_one_mark_a_step_and_slewing_is_none() -> None:
    second = 1_000_000_000
    steps = ClockSteps(RecordingClock("boot", 10 * second, 5000 * second))
    assert steps.look(11 * second, 5001 * second) == []
    assert steps.look(12 * second, 5002 * second + second // 100) == []
    [mark] = steps.look(13 * second, 5000 * second)
    assert (mark.at_ns, mark.kind) == (13 * second, "clock")
    assert mark.text == "the wall clock was stepped by -3.000 s"
    assert steps.look(14 * second, 5001 * second) == []


def test_unknown_recording_ends_with_2_and_names_the_list(wirespeed: Command) -> None:
    assert wirespeed("kpi", "record", "--for", "0.3s", "--collector", "cpu").code == 0
    for verb in (
        ["show", "kpi-9"],
        ["cost", "kpi-9"],
        ["mark", "x", "kpi-9"],
        ["export", "kpi-9", "--csv", "x"],
        ["clean", "--recording", "kpi-9"],
    ):
        ended = wirespeed("kpi", *verb)
        assert ended.code == 2
        assert "recording 'kpi-9': not in" in ended.err


def test_killed_recorder_keeps_its_seconds_and_takes_its_sampler_along(
    wirespeed: Command, tmp_path: Path
) -> None:
    store = str(tmp_path / "runs.sqlite")
    with started("record", "--collector", "cpu", "--store", store) as process:
        assert "Recording kpi-1" in line_of(process)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        [sampler] = map(int, children)
        pidfd = os.pidfd_open(sampler)

        def stored() -> bool:
            assert process.poll() is None, process.communicate()
            return bool(json.loads(wirespeed("kpi", "list", "--json").out)[0]["samples"])

        until(stored, "a sample is stored", patience_s=120)
        process.kill()
        process.wait()
        assert ended(pidfd)
    [found] = json.loads(wirespeed("kpi", "list", "--json").out)
    assert found["finished_at"] is None
    assert found["samples"] > 0
    assert "its recorder was killed" in wirespeed("kpi", "show").out


def ended(pidfd: int) -> bool:
    """Wait for the end of a process."""
    ready, _, _ = select.select([pidfd], [], [], 60)
    os.close(pidfd)
    return bool(ready)


def test_series_of_a_newer_version_are_named_where_openmetrics_lacks_them(
    wirespeed: Command, tmp_path: Path
) -> None:
    series = [RecordedSeries("new", "things_of_tomorrow", (), "1", SeriesKind.GAUGE)]
    with Store(str(tmp_path / "runs.sqlite")) as store:
        clock = RecordingClock("boot", 1000, 5_000_000_000_000_000_000)
        writer = RecordingWriter.start(store, "host", clock, 10.0, sparse=False)
        writer.add(series, [Chunk("new", "1", (0,), (1000,), (7,), ((5,),))], [])
    text = tmp_path / "x.om"
    ended = wirespeed("kpi", "export", "--openmetrics", str(text))
    assert ended.code == 0
    assert "unknown to this version: things_of_tomorrow" in ended.err
    assert text.read_text() == "# EOF\n"


def test_recording_that_is_written_is_cleaned_by_its_id_alone(
    wirespeed: Command, tmp_path: Path
) -> None:
    store = str(tmp_path / "runs.sqlite")
    with started("record", "--collector", "cpu", "--store", store) as recorder:
        assert "kpi-1" in line_of(recorder)
        assert wirespeed("kpi", "clean", "--size", "1").out == "0 recordings deleted.\n"
        assert wirespeed("kpi", "clean", "--recording", "kpi-1").out == "1 recording deleted.\n"
        said = recorder.communicate(timeout=60)[1]
        assert recorder.returncode == 1
    assert "recording kpi-1: it was deleted from" in said
    assert "Traceback" not in said


def test_killed_sampler_ends_the_recording_with_a_sentence(
    wirespeed: Command, tmp_path: Path
) -> None:
    store = str(tmp_path / "runs.sqlite")
    with started("record", "--collector", "cpu", "--store", store) as process:
        assert "Recording kpi-1" in line_of(process)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGKILL)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 1
    assert "its sampler ended with -9" in said
    assert "Traceback" not in said
    assert wirespeed("kpi", "show").code == 0


def test_recorder_of_a_run_ends_with_it_and_keeps_its_marks(
    wirespeed: Command, tmp_path: Path
) -> None:
    store = str(tmp_path / "runs.sqlite")
    words = ("record", "--collector", "cpu", "--store", store, "--run", "wire-1")
    with started(*words) as process:
        assert "Recording kpi-1" in line_of(process)
        _, said = process.communicate('["traffic", 5, "1"]\n["point", 7, "p2p: begun"]\n', 60)
        assert process.returncode == 0, said
    document = json.loads(wirespeed("kpi", "show", "--json").out)
    assert document["run_id"] == "wire-1"
    assert {"at_ns": 7, "kind": "point", "text": "p2p: begun"} in document["marks"]


def test_run_with_kpi_marks_its_points_and_trials(wirespeed: Command) -> None:
    ended = wirespeed("run", "wire", "--kpi", "--quiet")
    assert ended.code == 0, ended.err
    document = json.loads(wirespeed("kpi", "show", "--json").out)
    assert document["run_id"] == "wire-1"
    kinds = [mark["kind"] for mark in document["marks"] if mark["kind"] not in ("note", "price")]
    assert kinds[0] == kinds[-1] == "point"
    assert "trial" in kinds
    assert wirespeed("run", "wire", "--quiet").code == 0
    assert len(json.loads(wirespeed("kpi", "list", "--json").out)) == 1


def test_run_with_kpi_rate_records_at_that_rate(wirespeed: Command) -> None:
    assert wirespeed("run", "wire", "--kpi-rate", "99").code == 2
    assert wirespeed("run", "wire", "--kpi-rate", "5", "--quiet").code == 0
    document = json.loads(wirespeed("kpi", "show", "--json").out)
    assert (document["rate_hz"], document["sparse"]) == (5, False)


def test_exporter_serves_both_formats_and_ends_on_a_signal() -> None:
    with started("exporter", "--listen", "127.0.0.1:0", "--collector", "cpu") as process:
        address = re.search(r"http://\S+", line_of(process))
        assert address
        with urllib.request.urlopen(address[0]) as answer:  # noqa: S310
            assert b"wirespeed_cpu_user_seconds_total{" in answer.read()
        wanted = urllib.request.Request(  # noqa: S310
            address[0], headers={"Accept": "application/openmetrics-text; version=1.0.0"}
        )
        with urllib.request.urlopen(wanted) as answer:  # noqa: S310
            assert answer.read().endswith(b"# EOF\n")
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 143


def test_exporter_on_a_port_in_use_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with started("exporter", "--listen", f"127.0.0.1:{port}") as process:
            _, said = process.communicate(timeout=60)
            assert process.returncode == 2
    assert "cannot be used: Address already in use" in said
