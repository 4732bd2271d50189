# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from wirespeed.model.trial import DropCause, Stage
from wirespeed.report.document import document
from wirespeed.store.records import PointState, RunRecord

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "schemas" / "result.schema.json").read_text(encoding="utf-8")
)


def problems(result: dict[str, Any]) -> list[str]:
    """What the schema has against the document, after a way through JSON text."""
    parsed = json.loads(json.dumps(result, allow_nan=False))
    found = Draft202012Validator(SCHEMA).iter_errors(parsed)
    return [f"{error.json_path}: {error.message}" for error in found]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_a_run_follows_the_schema(run: RunRecord) -> None:
    assert problems(document(run)) == []


def test_a_run_that_has_not_finished_follows_it_too(run: RunRecord) -> None:
    pending = replace(
        run.points[0], state=PointState.PENDING, result=None, trials=(), plan=None, bench={},
        started_at=None, finished_at=None,
    )  # fmt: skip
    failed = replace(pending, state=PointState.FAILED, error="the vSwitch ended")
    partial = replace(run, finished_at=None, points=(run.points[0], failed, pending))
    assert problems(document(partial)) == []
    assert document(partial)["run"]["complete"] is False


def test_a_result_without_figures_follows_it_too(run: RunRecord) -> None:
    point = run.points[0]
    assert point.result is not None
    nothing = replace(
        point.result, ndr=None, pdr=None, mrr_fps=None, latency=(), not_measurable="all invalid"
    )
    assert problems(document(replace(run, points=(replace(point, result=nothing),)))) == []


@pytest.mark.parametrize(
    "path",
    [
        ("run", "id"), ("points", 0, "parameters"), ("points", 0, "trials", 0, "invalid_reason"),
        ("points", 0, "result", "ndr", "lower", "rate", "unit"),
        ("points", 0, "result", "latency_forward", "pdr_50", "hdrh"),
    ],
)  # fmt: skip
def test_the_schema_misses_what_is_missing(run: RunRecord, path: tuple[str | int, ...]) -> None:
    damaged = copy.deepcopy(document(run))
    inner: Any = damaged
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    assert problems(damaged)


def test_the_schema_knows_every_cause_and_stage() -> None:
    trial = SCHEMA["$defs"]["trial"]["properties"]
    assert set(trial["drops"]["items"]["properties"]["cause"]["enum"]) == set(DropCause)
    assert set(trial["stage"]["enum"]) == set(Stage)


def test_rates_carry_csit_names_and_both_layers(run: RunRecord) -> None:
    lower = document(run)["points"][0]["result"]["ndr"]["lower"]
    fps = lower["rate"]["value"]
    assert lower["rate"]["unit"] == "fps"
    assert lower["bandwidth"] == {"value": pytest.approx(fps * 84 * 8), "unit": "bps"}
    assert lower["bandwidth_l2"] == {"value": pytest.approx(fps * 64 * 8), "unit": "bps"}
    assert lower["line_share"] == pytest.approx(fps / (10e9 / (84 * 8)))


def test_every_trial_closes(run: RunRecord) -> None:
    for point in document(run)["points"]:
        for trial in point["trials"]:
            dropped = sum(drop["frames"] for drop in trial["drops"])
            assert trial["sent"] == trial["received"] + dropped
            assert trial["lost"] == trial["sent"] - trial["received"]


def test_latency_is_in_microseconds(run: RunRecord) -> None:
    point = run.points[0]
    assert point.result is not None
    half = document(run)["points"][0]["result"]["latency_forward"]["pdr_50"]
    assert half["unit"] == "us"
    assert half["p99"] == pytest.approx(point.result.latency[1].latency.p99_ns / 1000)
    assert half["load"]["value"] == point.result.latency[1].load_fps
