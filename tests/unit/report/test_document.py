# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from wirespeed.report.json.document import document
from wirespeed.report.json.schema import result_schema
from wirespeed.store.records import PointState, RunRecord

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "schemas" / "result.schema.json").read_text(encoding="utf-8")
)


def problems(result: dict[str, Any]) -> list[str]:
    """Return the schema's errors in the document, after a round trip through JSON text."""
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
        ("run", "id"), ("points", 0, "parameters"), ("points", 0, "trials", 0, "disturbed"),
        ("points", 0, "result", "ndr", "lower", "rate", "unit"),
        ("points", 0, "result", "latency_forward", "pdr_50", "hdrh"),
        ("points", 0, "result", "latency_forward", "pdr_50", "undisturbed"),
        ("points", 0, "result", "grade"), ("points", 0, "result", "undisturbed", "windows"),
        ("points", 0, "result", "as_is", "loss_ratio_high"),
        ("points", 3, "result", "bracket", "overloads"),
        ("points", 0, "trials", 0, "gated", "clean_share"),
        ("points", 0, "trials", 5, "disturbances", 0, "total_ns"),
        ("points", 0, "trials", 0, "directions", 0, "accepted"),
    ],
)  # fmt: skip
def test_the_schema_misses_what_is_missing(run: RunRecord, path: tuple[str | int, ...]) -> None:
    damaged = copy.deepcopy(document(run))
    inner: Any = damaged
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    assert problems(damaged)


def test_result_schema_file_is_made_from_the_types() -> None:
    assert result_schema() == SCHEMA, "run `make docs`"


@pytest.mark.parametrize("name", sorted(SCHEMA["$defs"]))
def test_result_schema_object_requires_its_keys_and_allows_no_others(name: str) -> None:
    definition = SCHEMA["$defs"][name]
    assert definition["additionalProperties"] is False
    assert sorted(definition["required"]) == sorted(definition["properties"])


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
            assert trial["offered"] == trial["received"] + dropped
            assert trial["offered"] == trial["accepted"] + trial["refused"]
            assert trial["lost"] == trial["offered"] - trial["received"]
            (direction,) = trial["directions"]
            assert direction["intended"] == direction["offered"] + direction["unsent"]
            for count in ("offered", "accepted", "refused", "unsent", "received"):
                assert direction[count] == trial[count], "one word, one meaning"


def test_disturbances_are_summed_by_kind(run: RunRecord) -> None:
    stored = run.points[0].trials[5]
    found = document(run)["points"][0]["trials"][5]["disturbances"]
    stops = [d for d in stored.trial.observation.evidence.disturbances if d.role == "sut"]
    (of_sut,) = [group for group in found if group["role"] == "sut"]
    assert of_sut == {
        "role": "sut", "cpu": 1, "kind": "stopped", "source": "context switch",
        "count": len(stops), "total_ns": sum(d.length_ns for d in stops),
        "longest_ns": max(d.length_ns for d in stops),
    }  # fmt: skip


def test_both_answers_are_there(run: RunRecord) -> None:
    loud, quiet, bracket = (document(run)["points"][i]["result"] for i in (0, 2, 3))
    assert (loud["grade"], quiet["grade"], bracket["grade"]) == ("C", "A", "D")
    assert 0 < loud["undisturbed"]["clean_share"] < 0.2
    assert loud["as_is"]["loss_ratio_high"] > 0.1
    assert quiet["as_is"]["loss_ratio_high"] == 0
    assert bracket["undisturbed"] is bracket["ndr"] is None
    ends = [bracket["bracket"][end]["rate"]["value"] for end in ("carried", "overloads")]
    assert ends[0] < ends[1]
    latency = loud["latency_forward"]["pdr_50"]
    assert latency["p99"] > latency["undisturbed"]["p99"]


def test_latency_is_in_microseconds(run: RunRecord) -> None:
    point = run.points[0]
    assert point.result is not None
    half = document(run)["points"][0]["result"]["latency_forward"]["pdr_50"]
    assert half["unit"] == "us"
    assert half["p99"] == pytest.approx(point.result.latency[1].latency.p99_ns / 1000)
    assert half["load"]["value"] == point.result.latency[1].load_fps
