# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.sample import observing
from tests.unit.store.test_old_runs import opened
from wirespeed.audit.registry import all_rules
from wirespeed.explain.audited import RULES
from wirespeed.explain.tried import Verdict
from wirespeed.model.cpus import CpuPlacement, PlacementKind
from wirespeed.model.errors import BadInput
from wirespeed.model.host.finding import Status
from wirespeed.model.result.explanation import KeyChange
from wirespeed.report.compare.tried import tried
from wirespeed.report.json.explain_document import explain_document
from wirespeed.report.text.explained import Explained, check_evidence, explained
from wirespeed.store.named import point_named
from wirespeed.store.read import read_run
from wirespeed.store.records import PointRecord, PointState, RunRecord

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "schemas" / "explanation.schema.json").read_text(encoding="utf-8")
)
NEAR, FAR = PlacementKind.ONE_CACHE, PlacementKind.ACROSS_CACHES
KEYS = (KeyChange("sut.vswitch.rx_queues", 2), KeyChange("sut.vswitch.pmd_cpus", (1, 2)))


def problems(document: dict[str, Any]) -> list[str]:
    parsed = json.loads(json.dumps(document, allow_nan=False))
    found = Draft202012Validator(SCHEMA).iter_errors(parsed)
    return [f"{error.json_path}: {error.message}" for error in found]


def all_of(run: RunRecord) -> tuple[Explained, ...]:
    return tuple(explained(run, point) for point in run.points)


def paired(run: RunRecord, *rates: tuple[float | None, float | None]) -> RunRecord:
    """Return a run of pairs that found these MRRs, alternately changed first."""
    points = []
    for number, (before, after) in enumerate(rates):
        made = [("as it was", before), ("changed", after)]
        for label, rate in made if number % 2 else made[::-1]:
            point = run.points[0]
            assert point.result is not None
            result = replace(
                point.result, ndr=None, pdr=None, mrr_fps=rate, as_is=None, bracket=None
            )
            points.append(replace(point, label=f"{label}, pair {number}", result=result))
    return replace(run, points=tuple(points))


def mrr(point: PointRecord) -> float:
    assert point.result is not None
    assert point.result.mrr_fps is not None
    return point.result.mrr_fps


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_an_explained_run_follows_it(run: RunRecord) -> None:
    document = explain_document(run, all_of(run))
    assert problems(document) == []
    assert [point["limiting"] for point in document["points"]] == ["switch CPU"] * 3 + [
        "VNF CPU"
    ] * 3


def test_a_tried_change_fits_the_schema(run: RunRecord) -> None:
    for rates in ([(1e6, 2e6)] * 7, [(None, 1e6)]):
        outcome = tried(paired(run, *rates), KEYS, "as it was")
        assert problems(explain_document(run, all_of(run)[:1], outcome)) == []


def test_a_point_that_was_not_measured_says_why(run: RunRecord) -> None:
    failed = replace(run.points[0], state=PointState.FAILED, result=None, error="the vSwitch ended")
    pending = replace(run.points[1], state=PointState.PENDING, result=None)
    assert run.points[2].result is not None
    nothing = replace(run.points[2].result, not_measurable="all trials were faulty")
    empty = replace(run.points[2], result=nothing)
    said = [explained(run, point).why_not or "" for point in (failed, pending, empty)]
    assert "failed: the vSwitch ended" in said[0]
    assert "it is pending" in said[1]
    assert "all trials were faulty" in said[2]
    assert problems(explain_document(run, [explained(run, failed)])) == []


@pytest.mark.parametrize(
    "path",
    [
        ("points", 0, "resources", 0, "state"), ("points", 0, "limits", 0, "evidence", 0, "source"),
        ("points", 0, "changes", 0, "proposal", "keys"), ("points", 0, "path", "links", 0, "fps"),
        ("points", 0, "path", "hops", 0, "name"), ("run", "id"), ("tried", "gain", "confidence"),
    ],
)  # fmt: skip
def test_the_schema_misses_what_is_missing(run: RunRecord, path: tuple[str | int, ...]) -> None:
    outcome = tried(paired(run, (1e6, 2e6)), KEYS, "as it was")
    damaged: Any = json.loads(json.dumps(explain_document(run, all_of(run), outcome)))
    inner = damaged
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    assert problems(damaged)


def test_frame_sizes_of_one_topology_tell_what_an_octet_costs(run: RunRecord) -> None:
    """The made-up switch takes 0.35 ns an octet at every point that has an MRR."""
    found = {use.resource.name: use for use in explained(run, run.points[0]).resources}
    assert found["COPIES"].evidence[0].value == pytest.approx(0.35, rel=0.02)


def test_audit_findings_are_shown_for_the_limiting_resource(run: RunRecord) -> None:
    """Point 0 has noise, point 2 has none."""
    assert run.audits is not None
    made = run.audits[0].findings[0]
    found = tuple(
        replace(made, rule=rule, status=status)
        for rule, status in (
            ("WS32", Status.FAILED), ("WS04", Status.PASSED), ("WS25", Status.FAILED),
        )
    )  # fmt: skip
    audited = replace(run, audits=(replace(run.audits[0], findings=found),))
    told = [explained(audited, audited.points[i]) for i in (0, 2)]
    assert [[finding.rule for finding in each.findings] for each in told] == [["WS32"], []]
    assert problems(explain_document(audited, told)) == []
    older = replace(run, audits=None)
    assert explained(older, older.points[0]).findings == ()


def test_every_rule_that_is_named_exists() -> None:
    known = {rule.id for rule in all_rules()}
    assert {rule for rules in RULES.values() for rule in rules} <= known


def test_a_run_without_evidence_is_refused(tmp_path: Path) -> None:
    with opened("run-0001", tmp_path) as store:
        oldest = read_run(store, "wire-1", series=True)
    with pytest.raises(BadInput, match="no evidence to explain it by") as caught:
        check_evidence(oldest)
    assert "wirespeed run wire" in caught.value.next_step


def test_an_older_run_with_evidence_is_explained(tmp_path: Path, run: RunRecord) -> None:
    check_evidence(run)
    with opened("run-0002", tmp_path) as store:
        older = read_run(store, "quickstart-1", series=True)
        tcp = read_run(store, "s0-speedtest-1", series=True)
    for record in (older, tcp):
        check_evidence(record)
        found = explained(record, record.points[0])
        assert found.why_not is None
        assert found.limits
        assert found.path is None
        assert problems(explain_document(record, [found])) == []


class TestPointNames:
    def test_a_point_is_named_by_label_id_or_their_beginning(self, run: RunRecord) -> None:
        for point in run.points:
            for name in (point.label, point.id, point.id[:7], point.label.upper()):
                assert point_named(run, name) is point
        assert point_named(run, "p2p, 6") is run.points[0]

    def test_an_ambiguous_one_names_those_that_it_may_be(self, run: RunRecord) -> None:
        with pytest.raises(BadInput, match=r"ambiguous: \"p2p, 64 B\" .* \"p2p, 1518 B\""):
            point_named(run, "p2p")

    def test_a_repeat_is_named_by_its_key(self, run: RunRecord) -> None:
        first = run.points[0]
        again = replace(first, key="feedfacecafe", repeat=2)
        repeated = replace(run, points=(first, again))
        assert point_named(repeated, "feedface") is again
        assert point_named(repeated, first.id) is first
        with pytest.raises(BadInput, match=r"ambiguous: .*\(repeat 2, feedfacecafe\)"):
            point_named(repeated, first.label)

    @pytest.mark.parametrize("name", ["pvp, 65 B", "nonsense", ""])
    def test_an_unknown_one_names_all(self, run: RunRecord, name: str) -> None:
        with pytest.raises(BadInput, match="not among the 6 of run quickstart-1") as caught:
            point_named(run, name)
        assert ("Did you mean 'pvp, 64 B'" in caught.value.next_step) is (name == "pvp, 65 B")


class TestTried:
    def test_the_gain_is_that_of_the_pairs(self, run: RunRecord) -> None:
        found = tried(paired(run, *[(1e6, 1.1e6)] * 6), KEYS, "as it was")
        assert found.figure == "MRR"
        assert found.gain is not None
        assert found.gain.gain == pytest.approx(0.1)
        assert found.gain.verdict is Verdict.MORE
        assert found.pairs == ((1e6, 1.1e6),) * 6

    def test_tried_half_of_another_placement_waits_for_its_partner(self, run: RunRecord) -> None:
        """As it was far, changed near, changed far, as it was near: two pairs, not none."""
        pairs = paired(run, (1e6, 2.2e6), (2e6, 1.1e6))
        kinds = [FAR if rate < 1.5e6 else NEAR for rate in map(mrr, pairs.points)]
        placed = zip(pairs.points, kinds, strict=True)
        points = tuple(replace(p, result=replace(p.result, placement=k)) for p, k in placed)  # type: ignore[type-var]
        found = tried(replace(pairs, points=points), KEYS, "as it was")
        assert [(p.before, p.after, p.placement) for p in found.matching.pairs] == [
            (2e6, 2.2e6, NEAR), (1e6, 1.1e6, FAR),
        ]  # fmt: skip
        assert found.gain is not None
        assert found.gain.gain == pytest.approx(0.1)
        assert found.matching.share == 1.0

    def test_tried_old_record_takes_the_placement_of_its_trials(self, run: RunRecord) -> None:
        pairs = paired(run, *[(1e6, 1.1e6)] * 3)
        apart = CpuPlacement(300.0, 1.0)
        first = pairs.points[0]
        elsewhere = observing(first, placement=(apart, apart))
        moved = replace(pairs, points=(elsewhere, *pairs.points[1:]))
        found = tried(moved, KEYS, "as it was")
        assert (found.wanted, len(found.pairs), len(found.matching.waiting)) == (3, 2, 2)

    def test_tried_measurements_are_taken_in_the_order_of_measuring(self, run: RunRecord) -> None:
        """As stored, the first half of the second pair was measured last."""
        pairs = paired(run, (1e6, 1.1e6), (2e6, 2.4e6))
        when = ("2026-01-01T00:00", "2026-01-01T00:01", "2026-01-01T00:09", "2026-01-01T00:02")
        points = tuple(replace(p, started_at=at) for p, at in zip(pairs.points, when, strict=True))
        found = tried(replace(pairs, points=points), KEYS, "as it was")
        assert [pair.in_turn for pair in found.matching.pairs] == [True, True]

    def test_tried_measurements_without_a_rate_leave_their_partners_to_others(
        self, run: RunRecord
    ) -> None:
        found = tried(paired(run, (1e6, 1.1e6), (None, 1e6), (1e6, None)), KEYS, "as it was")
        assert (found.wanted, len(found.pairs), found.matching.empty) == (3, 2, 2)
        none = tried(paired(run, (None, 1e6)), KEYS, "as it was")
        assert (none.figure, none.gain) == (None, None)
