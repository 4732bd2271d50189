# SPDX-License-Identifier: Apache-2.0
"""Check the points that follow from factors, repeats, an order and a short form."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.support.fake_rig import FACTS, FakeHost
from tests.support.sample import Nobody
from wirespeed.model.errors import WirespeedError
from wirespeed.model.study.spec import Frames
from wirespeed.model.study.study import Point, Study
from wirespeed.store.read import read_run
from wirespeed.store.run_writer import Origin, RunWriter
from wirespeed.store.store import Store
from wirespeed.study.announce import announcement, estimate_s
from wirespeed.study.errors import StudyError
from wirespeed.study.load import load_study, resolve_study
from wirespeed.study.run import run_study

FACTORS = """
[[factor]]
name = "flows"
"traffic.flows" = 1000

[[factor]]
name = "bursts"
"traffic.burst" = 4

[[factor]]
name = "IPv6"
"traffic.ip_version" = 6
"traffic.frame" = 128
"""


def study_of(text: str) -> Study:
    return resolve_study("mine", "mine.toml", tomllib.loads(text))


def names(study: Study) -> list[str]:
    return [" + ".join(point.factors) for point in study.points]


@pytest.mark.parametrize(
    ("design", "expected"),
    [
        ('combine = ["cumulative"]', ["", "flows", "flows + bursts", "flows + bursts + IPv6"]),
        ('combine = ["one-at-a-time"]', ["", "flows", "bursts", "IPv6"]),
        (
            'combine = ["cumulative", "one-at-a-time"]',
            ["", "flows", "flows + bursts", "flows + bursts + IPv6", "bursts", "IPv6"],
        ),
        (
            'combine = ["fraction"]\ngenerators = ["C = AB"]',
            ["IPv6", "bursts", "flows", "flows + bursts + IPv6"],
        ),
    ],
)
def test_a_design_gives_its_combinations_in_order(design: str, expected: list[str]) -> None:
    study = study_of(f"{FACTORS}\n[design]\n{design}\n")
    assert names(study) == expected
    for point in study.points:
        assert isinstance(point.workload, Frames)
        traffic = point.workload.traffic
        assert (traffic.flows == 1000) == ("flows" in point.factors)
        assert (traffic.burst == 4) == ("bursts" in point.factors)
        assert (traffic.ip_version == 6) == ("IPv6" in point.factors)


def test_all_combinations_in_every_case_and_level() -> None:
    study = study_of(f'{FACTORS}\n[vary]\n"topology.kind" = ["p2p", "pvp"]\n')
    assert len(study.points) == 2 * 2**3
    assert study.points[0].label == "p2p, 64 B, base"
    assert study.points[-1].label == "pvp, 128 B, flows + bursts + IPv6"


def test_a_later_factor_may_undo_an_earlier_one() -> None:
    """Set one key by two factors, as with a thread on a NUMA node that is then pinned."""
    text = FACTORS.replace('"traffic.burst" = 4', '"traffic.flows" = 9')
    study = study_of(f'{text}\n[design]\ncombine = ["cumulative"]\n')
    flows = [p.workload.traffic.flows for p in study.points if isinstance(p.workload, Frames)]
    assert flows == [64, 1000, 9, 9]


def test_a_case_has_levels_of_its_own() -> None:
    study = study_of("""
[[case]]
topology.kind = "parallel"
vary = { "topology.vnfs" = [1, 2] }
[[case]]
topology.kind = "chain"
[case.vary]
topology.vnfs = [2, 3]
[vary]
traffic.frame = [64, 128]
""")
    assert [point.label for point in study.points] == [
        f"{kind}, {size} B, vnfs {vnfs}"
        for kind, counts in (("parallel", (1, 2)), ("chain", (2, 3)))
        for vnfs in counts
        for size in (64, 128)
    ]


REPEATED = """
[topology]
kind = "wire"
[vary]
sut.impair.rate_fps = [1e6, 2e6]
[design]
repeats = 2
order = "blocks"
seed = 3
"""


def test_repeats_are_results_of_the_same_point_in_the_order_of_the_seed(tmp_path: Path) -> None:
    study, rig = study_of(REPEATED), FakeHost()
    assert len({point.id for point in study.points}) == 2
    assert len({point.key for point in study.points}) == 4
    with Store(str(tmp_path / "runs.sqlite")) as store:
        writer = RunWriter.start(store, study, Origin(["test"], {"wirespeed": "0"}, FACTS))
        run_study(study, writer, rig.rig, Nobody())
        record = read_run(store, writer.run_id)
    assert record.complete
    assert [(p.id, p.key, p.repeat) for p in record.points] == [
        (p.id, p.key, p.repeat) for p in study.points
    ]
    begun = sorted(record.points, key=lambda point: str(point.started_at))
    assert [point.key for point in begun] == list(study.order)
    assert record.form == study.form


class Ended(WirespeedError):
    pass


def test_a_run_goes_on_with_the_repeats_that_are_missing(tmp_path: Path) -> None:
    study = study_of(REPEATED)

    class EndsAtThird(Nobody):
        begun = 0

        def point_started(self, _point: Point) -> None:
            self.begun += 1
            if self.begun == 3:
                raise Ended("cut")

    with Store(str(tmp_path / "runs.sqlite")) as store:
        writer = RunWriter.start(store, study, Origin(["test"], {"wirespeed": "0"}, FACTS))
        with pytest.raises(Ended):
            run_study(study, writer, FakeHost().rig, EndsAtThird())
        assert writer.complete_points() == set(study.order[:2])
        rig = FakeHost()
        resolved = read_run(store, writer.run_id).resolved
        again = resolve_study("mine", "the run", resolved)
        assert again.order == study.order
        run_study(again, writer, rig.rig, Nobody())
        record = read_run(store, writer.run_id)
    assert len(rig.opened) == 2
    assert record.complete


QUICK = """
[vary]
topology.kind = ["p2p", "pvp"]
traffic.frame = [64, 128, 1518]
[quick]
leave_out = { traffic.frame = [128] }
set = { "search.time_limit_s" = 5, "design.repeats" = 2 }
"""


def test_the_short_form_leaves_out_levels_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(QUICK, encoding="utf-8")
    whole, short = load_study(str(path)), load_study(str(path), quick=True)
    assert len(whole.points) == 6
    assert [p.label for p in short.points if p.repeat == 1] == [
        f"{kind}, {size} B, repeat 1" for kind in ("p2p", "pvp") for size in (64, 1518)
    ]
    assert {p.parameters["search"]["time_limit_s"] for p in short.points} == {5}
    assert estimate_s(short.points) == 2 * estimate_s(p for p in short.points if p.repeat == 1)
    said = list(announcement(short, short.points[:3]))
    assert said[0].startswith("3 points of 8 to measure, about ")
    assert said[-2:] == [
        "The short form leaves out traffic.frame 128 (4 points).",
        "The short form sets search.time_limit_s = 5, design.repeats = 2.",
    ]
    assert "short form" not in " ".join(announcement(whole, whole.points))
    again = resolve_study("mine", "a run", short.resolved)
    assert [p.key for p in again.points] == [p.key for p in short.points]


def test_set_goes_before_cases_factors_and_the_short_form(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(QUICK.replace("[vary]\ntopology.kind", f"{FACTORS}[vary]\ntopology.kind"))
    overrides = ["traffic.burst=8", "design.seed=4", "traffic.flows=1", "traffic.ip_version=4",
                 "traffic.frame=1518"]  # fmt: skip
    study = load_study(str(path), overrides)
    assert [point.label for point in study.points] == ["p2p, 1518 B", "pvp, 1518 B"]
    assert study.form.factors == ()
    assert study.form.design.seed == 4


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[factor]\nname = "a"\n', "each written [[factor]]"),
        ('[[factor]]\n"traffic.flows" = 1\n', "factor 1 needs a name"),
        ('[[factor]]\nname = "a"\n', "sets nothing"),
        ('[[factor]]\nname = "a"\n"traffic.flow" = 1\n', "Did you mean 'flows'"),
        (FACTORS.replace("bursts", "flows"), "names two factors"),
        (FACTORS + '[design]\ncombine = ["all"]\n', "must be 'cumulative'"),
        (FACTORS + "[design]\nrepeat = 3\n", "[design] has: combine"),
        (FACTORS + "[design]\nrepeats = 0\n", "greater than or equal to 1"),
        (FACTORS + '[design]\ngenerators = ["C = AB"]\n', 'goes with combine = ["fraction"]'),
        (FACTORS + '[design]\ncombine = ["fraction"]\n', "and that with generators"),
        (FACTORS + '[design]\ncombine = ["fraction"]\ngenerators = ["C = AD"]\n', "D: the factors"),
        (
            FACTORS + '[design]\ncombine = ["fraction"]\ngenerators = ["C = AB", "A = BC"]\n',
            "that none of them decides",
        ),
        ('[design]\ncombine = ["cumulative"]\n', "no [[factor]] to combine"),
        (FACTORS.replace("traffic.burst", "traffic.flows"), "both cannot be on"),
        (FACTORS + '[vary]\n"traffic.flows" = [1, 2]\n', "is varied or set by a [[case]]"),
        ("[[factor]]\nname = 'a'\n'traffic.flows' = 64\n", "changes nothing"),
        ("[[case]]\ntraffic.flows = 1\nvary = { traffic.flows = [2] }\n", "by the same [[case]]"),
        ("[quick]\nleave_out = { traffic.frame = [64] }\non = true\n", "leaves no point"),
        (
            "[vary]\ntraffic.frame = [64, 128]\n[quick]\non = true\n"
            "leave_out = { traffic.frame = [65, 64] }\n", "no point has this level",
        ),
        ("[quick]\nleave_out = { traffic.frames = [64] }\n", "Did you mean 'frame'"),
        ('[quick]\nset = { "design.repeat" = 2 }\n', "unknown key"),
        ("[quick]\nfast = true\n", "[quick] has: leave_out, set, on"),
        ('[published]\ntable = "s9"\n', "must be one of s1, s2, s3, s4"),
    ],
)  # fmt: skip
def test_an_impossible_design_is_refused(text: str, says: str) -> None:
    with pytest.raises(StudyError) as error:
        study_of(text)
    assert any(says in str(fault) for fault in error.value.faults), error.value.faults


def test_a_study_without_a_short_form_has_none() -> None:
    with pytest.raises(StudyError) as error:
        load_study("wire", quick=True)
    assert "has no short form" in str(error.value.faults[0])
