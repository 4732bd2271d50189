# SPDX-License-Identifier: Apache-2.0
"""Check what a recording cost: figures of its sampler, and losses of its run against chance."""

from __future__ import annotations

import html
import json
import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.waiting import until
from tests.unit.cli.conftest import Command
from tests.unit.cli.test_kpi import line_of, started
from wirespeed.cli.verbs.kpi_turns import turn_words
from wirespeed.experiment.turns import Answer, Compared, Ratio, Stop
from wirespeed.live import recording_cost
from wirespeed.live.recording_cost import Cost, SourceCost, add_price, cost_of, sentences
from wirespeed.measure.read_losses import ReadLosses
from wirespeed.model.result.recording import Chunk, RecordedSeries, RecordingClock
from wirespeed.model.result.series import OFFERED, RECEIVED, Series, SeriesKind
from wirespeed.store import recordings
from wirespeed.store.recording_writer import RecordingWriter
from wirespeed.store.series import moments_and_values, pack
from wirespeed.store.store import Store

MS, S = 1_000_000, 1_000_000_000
FOUND = Cost(10 * S, 83 * MS, 38 << 20, (
    SourceCost("cpu", 100, 0.3 * MS, MS, 0.2 * MS, ReadLosses(11, 0, 0.2, 1.0, 100)),
    SourceCost("ovs-pmd bench", 100, 2.0 * MS, 4 * MS, 0.6 * MS, ReadLosses(11, 3, 0.4, 0.0, 100)),
    SourceCost("wsdp tg", 0, 0.1 * MS, MS, None, ReadLosses(11, 0, 0.0, 1.0, 0)),
))  # fmt: skip


def test_price_is_the_whole_first_then_the_dearest_source() -> None:
    assert sentences(FOUND) == [
        "the sampler took 0.83% of a CPU (0.08 s in 10.0 s), 38 MiB; not counted: the recorder "
        "that stores, and programs that answer",
        "ovs-pmd bench: 100 reads, 0.60 ms of CPU time each, longest 4.00 ms; 3 of 11 loss bursts "
        "fall into ovs-pmd bench, 0.4 expected (more than by chance)",
        "cpu: 100 reads, 0.20 ms of CPU time each, longest 1.00 ms; 0 of 11 loss bursts fall into "
        "cpu, 0.2 expected",
        "wsdp tg: 0 reads, longest 1.00 ms; no read while frames flowed",
    ]


def test_price_without_losses_and_of_an_older_version_says_so() -> None:
    quiet = replace(FOUND.sources[0], losses=ReadLosses(0, 0, 0.0, 1.0, 9))
    first, second = sentences(replace(FOUND, cpu_ns=None, sources=(quiet,)))
    assert first == "10.0 s recorded; the sampler's CPU time is not known"
    assert second.endswith("no trial lost a frame")


def test_coincidence_is_judged_harder_with_more_sources() -> None:
    once = replace(FOUND.sources[1], losses=ReadLosses(11, 3, 0.4, 0.03, 9))
    assert "more than by chance" in sentences(replace(FOUND, sources=(once,)))[1]
    assert "more than by chance" not in sentences(replace(FOUND, sources=(once, once)))[1]


def test_moments_and_values_are_those_of_unpack() -> None:
    for values in ((1.0, 2.0, -3.0), (0.25, 1e9, -7.5)):
        series = Series("x", "frames", SeriesKind.COUNT, "", (5, 25, 95), values)
        at_ns, found = moments_and_values(pack(series))
        assert (tuple(at_ns.tolist()), tuple(found.tolist())) == (series.at_ns, series.values)
    with pytest.raises(ValueError, match="cut"):
        moments_and_values(replace(pack(series), values=pack(series).values[:-9]))


def recorded(store: Store) -> str:
    """Make a recording of two sources, one of them the sampler's own; return its id."""
    counter = SeriesKind.COUNTER
    series = [
        RecordedSeries("cpu", "cpu_user_seconds", (("cpu", "0"),), "ns", counter),
        RecordedSeries("sampler", "collector_cpu_seconds", (("collector", "cpu"),), "ns", counter),
        RecordedSeries("sampler", "collector_reads", (("collector", "cpu"),), "1", counter),
        RecordedSeries("sampler", "sampler_cpu_seconds", (), "ns", counter),
    ]
    clock = RecordingClock("b", 0, 0)
    writer = RecordingWriter.start(store, "host", clock, 10, sparse=False)
    begins = tuple(n * 100 * MS for n in range(10))
    took = (*(MS,) * 9, 5 * MS)
    chunks = [
        Chunk("cpu", "b", (0,), begins, took, tuple((n,) for n in range(10))),
        Chunk("sampler", "1", (1, 2, 3), begins, (MS,) * 10,
              tuple((n * MS, n * 2, n * 3 * MS) for n in range(1, 11))),
    ]  # fmt: skip
    writer.add(series, chunks, [])
    writer.finish()
    return writer.id


def test_cost_is_of_the_reads_in_the_store_and_is_kept_as_marks(tmp_path: Path) -> None:
    with Store(str(tmp_path / "s.sqlite")) as store:
        name = recorded(store)
        found = cost_of(store, recordings.recording_of(store, name))
        assert found.cpu_ns == 30 * MS
        [cpu, own] = found.sources
        assert (cpu.reads, cpu.longest_ns, cpu.mean_ns) == (10, 5 * MS, 1.4 * MS)
        assert cpu.cpu_ns == MS / 2
        assert own.cpu_ns is None
        assert cpu.losses is None
        summary = add_price(store, recordings.recording_of(store, name))
        marks = [each for each in recordings.marks_of(store, name) if each.kind == "price"]
        assert [each.text for each in marks] == sentences(found)
        assert marks[0].text == summary


def test_losses_of_the_runs_trials_are_tested_against_the_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_ns = tuple(range(0, S, MS))

    def series(name: str, lost: int) -> Series:
        # Frames are lost from 100.2 ms on, during the second read, and at 550 ms.
        values = tuple(float(5 - lost * (at // MS in (100, 550))) for at in at_ns)
        return Series(name, "frames", SeriesKind.COUNT, "", at_ns, values)

    seen = SimpleNamespace(began_ns=0, began_error_ns=0)
    trial = SimpleNamespace(
        trial=SimpleNamespace(observation=seen),
        packed=(pack(series(OFFERED, 0)), pack(series(RECEIVED, 1))),
    )
    elsewhere = SimpleNamespace(
        trial=SimpleNamespace(observation=SimpleNamespace(began_ns=9 * S, began_error_ns=0))
    )
    run = SimpleNamespace(points=[SimpleNamespace(trials=[trial, elsewhere])])
    monkeypatch.setattr(recording_cost, "read_run", lambda *_, **__: run)
    with Store(str(tmp_path / "s.sqlite")) as store:
        name = recorded(store)
        summary = replace(recordings.recording_of(store, name), run_id="wire-1")
        found = cost_of(store, summary)
    losses = found.sources[0].losses
    assert losses is not None
    assert (losses.bursts, losses.inside, losses.reads) == (2, 1, 10)
    assert "1 of 2 loss bursts falls into cpu" in sentences(found)[1]


def test_recording_tells_its_price_and_kpi_cost_shows_it(
    wirespeed: Command, tmp_path: Path
) -> None:
    words = ("record", "--collector", "cpu", "--collector", "sampler", "--rate", "20")
    with started(*words, "--store", str(tmp_path / "runs.sqlite")) as process:
        assert "Recording kpi-1" in line_of(process)

        def has_costs() -> bool:
            assert process.poll() is None, process.communicate()
            ended = wirespeed("kpi", "cost", "--json")
            if ended.code != 0:  # it has no answer before the first reads are stored
                return False
            sources = {each["source"] for each in json.loads(ended.out)["sources"]}
            return sources == {"cpu", "sampler"}

        until(has_costs, "costs of the collector and of the sampler", patience_s=120)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert "kpi-1: the sampler took" in said
    shown = wirespeed("kpi", "cost")
    assert shown.code == 0
    assert "kpi-1: the sampler took" in shown.out
    document = json.loads(wirespeed("kpi", "cost", "--json").out)
    [cpu] = [each for each in document["sources"] if each["source"] == "cpu"]
    assert cpu["reads"] > 0
    assert 0 < cpu["cpu_ns"] < S
    assert cpu["losses"] is None


def test_run_with_kpi_has_its_price_in_recording_and_report(
    wirespeed: Command, tmp_path: Path
) -> None:
    done = wirespeed("run", "wire", "--kpi", "--quiet")
    assert done.code == 0, done.err
    found = json.loads(wirespeed("kpi", "show", "--json").out)
    # The run of a simulated bench may be over before the first read.
    price = [mark["text"] for mark in found["marks"] if mark["kind"] == "price"]
    assert f"kpi: kpi-1: {price[0]}" in done.err
    page = tmp_path / "r.html"
    assert wirespeed("report", "latest", "--html", str(page)).code == 0
    text = html.unescape(page.read_text())
    assert "Price of the recording" in text
    assert price[0] in text
    assert wirespeed("run", "wire", "--quiet").code == 0
    assert wirespeed("report", "latest", "--html", str(page)).code == 0
    assert "Price of the recording" not in page.read_text()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer.LESS, "Recording lowers mrr: -0.3% (-0.9% to +0.2%), 12 pairs, 95% confidence"),
        (Answer.MORE, "Recording does not lower mrr, which was higher with it"),
        (Answer.SAME, "Recording changes mrr by less than 1"),
        (Answer.UNDECIDED, "Cannot tell whether recording changes mrr"),
    ],
)
def test_turns_with_and_without_recording_end_in_one_sentence(answer: Answer, said: str) -> None:
    found = Compared(answer, Ratio(-0.003, -0.009, 0.002, 12))
    assert turn_words("mrr", Stop(0.01, 12), found).startswith(said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pairs", "5"], "--pairs: it is for --study"),
        (["kpi-1", "--study", "p2p"], "--study makes recordings of its own"),
        (["--study", "nowhere"], "nowhere"),
        (["--study", "p2p", "--goal", "fast"], "--goal fast: unknown goal"),
        (["--study", "quickstart", "--kpi-rate", "99"], "rate 99 Hz: not within 1 and 50"),
    ],
)
def test_bad_options_of_kpi_cost_end_with_2(
    wirespeed: Command, words: list[str], said: str
) -> None:
    ended = wirespeed("kpi", "cost", *words)
    assert ended.code == 2
    assert said in ended.err
    assert "Traceback" not in ended.err
