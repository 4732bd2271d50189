# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from tests.unit.cli.conftest import Command
from wirespeed.bench.interface import BenchError
from wirespeed.cli.verbs import qualify as verb
from wirespeed.qualify.qualification import (
    BusyInterrupt,
    Cause,
    Interrupter,
    Qualification,
    QualifiedCpu,
)
from wirespeed.qualify.rings import ring_needs

SCHEMA = Path(__file__).parents[3] / "schemas" / "qualification.schema.json"
MS = 1_000_000
NOISY = QualifiedCpu(
    2, 1204, 660_000, "kworker/2:1", 186 * MS, 660_000,
    (
        Interrupter(Cause.PROGRAM, "kworker/2:1", 4, 660_000, MS),
        Interrupter(Cause.NO_PROGRAM, "", 1200, 41_000, 185 * MS),
    ),
    (BusyInterrupt("Local timer interrupts", 250.0),), 0, 0,
)  # fmt: skip
CLEAN = QualifiedCpu(13, 0, 0, "", 0, 0, (), (), 0, None)
FOUND = Qualification(60.0, 2000, "nice -20", (NOISY, CLEAN), ring_needs(660_000), False, ())


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    _finds(monkeypatch, FOUND)


def _finds(monkeypatch: pytest.MonkeyPatch, found: Qualification | BenchError) -> None:
    def qualify(*_: object) -> Qualification:
        if isinstance(found, BenchError):
            raise found
        return found

    monkeypatch.setattr(verb, "qualify_cpus", qualify)


def test_qualify_prints_a_line_for_each_cpu_and_the_conclusion(wirespeed: Command) -> None:
    ended = wirespeed("qualify")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "CPU  2: longest gap 660 \N{MICRO SIGN}s (kworker/2:1); then interrupt, hypervisor or "
        "firmware 41.0 \N{MICRO SIGN}s; 1204 gaps of 60 s take 0.3%",
        "CPU 13: no gap over 2.0 \N{MICRO SIGN}s in 60 s",
        "Lossless up to 0.776 Mpps with rings of 512; needs rings of 1024 above 0.776 Mpps, 2048 "
        "above 1.552 Mpps, 4096 above 3.103 Mpps; above 6.206 Mpps 4096 are too few (CPU 2: "
        "frames of 660 \N{MICRO SIGN}s pile up).",
    ]


def test_qualify_without_gaps_limits_no_rate(
    wirespeed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    _finds(monkeypatch, replace(FOUND, cpus=(CLEAN,), rings=ring_needs(0)))
    last = wirespeed("qualify").out.splitlines()[-1]
    assert last == "Lossless at any rate with rings of 512: no CPU stood still."
    assert wirespeed("qualify", "--rate", "100").code == 0


@pytest.mark.parametrize(
    ("rate", "code", "line"),
    [
        ("3.1", 0, "Lossless at 3.100 Mpps needs rings of 2048 here: 2,046 frames pile up on CPU "
                   "2."),
        ("7", 1, "Not lossless at 7.000 Mpps: 4,620 frames pile up on CPU 2, rings have at most "
                 "4096."),
    ],
)  # fmt: skip
def test_qualify_rate_ends_with_1_where_no_ring_is_long_enough(
    wirespeed: Command, rate: str, code: int, line: str
) -> None:
    ended = wirespeed("qualify", "--rate", rate)
    assert (ended.code, ended.out.splitlines()[-1]) == (code, line)
    assert wirespeed("qualify", "--rate", rate, "--json").code == code


def test_qualify_json_is_as_its_schema(wirespeed: Command) -> None:
    document = json.loads(wirespeed("qualify", "--json").out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert document["cpus"][0]["interrupters"][0]["name"] == "kworker/2:1"


def test_qualify_moved_cpus_and_what_was_not_seen_are_printed(
    wirespeed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    _finds(monkeypatch, replace(FOUND, moved=True, unseen=("CPU 2: \x1b[2J",)))
    out = wirespeed("qualify").out.splitlines()
    assert out[2] == "Not seen: CPU 2: \\x1b[2J."
    assert out[3].startswith("The hypervisor moved the CPUs meanwhile")


def test_qualify_failed_measurement_ends_with_1(
    wirespeed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    _finds(monkeypatch, BenchError("wsdp ended (exit status 1)", "See its log."))
    ended = wirespeed("qualify")
    assert (ended.code, ended.out) == (1, "")
    assert "wsdp ended" in ended.err


@pytest.mark.parametrize(
    "options", [("--cpus", "99999"), ("--cpus", "a"), ("--seconds", "0"), ("--rate", "-1")]
)
def test_qualify_bad_options_end_with_2(wirespeed: Command, options: tuple[str, str]) -> None:
    ended = wirespeed("qualify", *options)
    assert (ended.code, ended.out) == (2, "")
    assert options[0] in ended.err
