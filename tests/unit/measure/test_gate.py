# SPDX-License-Identifier: Apache-2.0
"""Check that the gate excludes exactly the time with noise, without reading a count."""

from __future__ import annotations

import typing
from dataclasses import fields, is_dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.measure.windows_sim import LOUD, Sut, judge, simulate
from wirespeed.measure import gate as module
from wirespeed.measure.gate import Geometry, Mask, gate, stop_limit_ns
from wirespeed.measure.windows import drained, geometry_of
from wirespeed.model.result.evidence import (
    ContentionSamples,
    Disturbance,
    DisturbanceKind,
    Evidence,
    Source,
)
from wirespeed.model.result.reason import Reason
from wirespeed.model.result.trial import LeftOut

MS = 1_000_000
COUNT = 40
# The ring holds 1,024 frames: 128 µs at 8 Mpps, so that the floors of 100 µs and 1 ms hold.
GEOMETRY = Geometry(0, MS, COUNT, 8e6, 1024, 4096, 0.005, False)
DRAINED = (True,) * COUNT


def stop(begin_ns: int, length_ns: int, role: str = "sut") -> Disturbance:
    return Disturbance(1, begin_ns, length_ns, DisturbanceKind.STOPPED, Source.POLL_GAP, role)


def other(kind: DisturbanceKind, begin_ns: int = 0, length_ns: int = 0) -> Disturbance:
    return Disturbance(0, begin_ns, length_ns, kind, Source.SCHEDULE, "generator")


def probe(*slow_at_ms: int, forwards: bool = True, every_ms: int = 4) -> ContentionSamples:
    at = range(-every_ms, COUNT + 2 * every_ms, every_ms)
    return ContentionSamples(
        1,
        forwards,
        tuple(ms * MS for ms in at),
        tuple(1.3 if ms in slow_at_ms else 1.0 for ms in at),
    )


def out(mask: Mask) -> set[int]:
    return {i for i, clean in enumerate(mask.clean) if not clean}


@pytest.mark.parametrize(
    ("load_fps", "ring_frames", "limit_ns"),
    [(8e6, 1024, 100_000), (8e5, 1024, 320_000), (8e5, 4096, 1_280_000), (1e5, 0, 100_000)],
)
def test_a_stop_may_take_a_quarter_of_the_ring_and_always_100_us(
    load_fps: float, ring_frames: int, limit_ns: float
) -> None:
    geometry = replace(GEOMETRY, load_fps=load_fps, ring_frames=ring_frames)
    assert stop_limit_ns(geometry) == pytest.approx(limit_ns)


def test_a_stop_takes_the_windows_it_touches_and_those_whose_frames_it_met() -> None:
    evidence = Evidence((stop(20_500_000, 600_000),))
    assert out(gate(evidence, GEOMETRY, DRAINED)) == {19, 20, 21}


def test_frames_queued_in_a_deep_path_are_sent_long_before_the_stop_that_meets_them() -> None:
    # 40,000 frames at 8 Mpps are 5 ms.
    deep = replace(GEOMETRY, path_frames=40_000)
    assert out(gate(Evidence((stop(20_500_000, 200_000),)), deep, DRAINED)) == set(range(15, 21))


def test_a_stop_that_the_rings_bear_takes_nothing() -> None:
    at_limit = int(stop_limit_ns(GEOMETRY))
    assert not out(gate(Evidence((stop(20 * MS, at_limit),)), GEOMETRY, DRAINED))
    assert out(gate(Evidence((stop(20 * MS, at_limit + 1),)), GEOMETRY, DRAINED))


def test_a_stop_before_the_first_or_after_the_last_window_takes_what_it_reaches() -> None:
    early, late = stop(-5 * MS, 200_000), stop(COUNT * MS + 100, 200_000)
    assert out(gate(Evidence((early, late)), GEOMETRY, DRAINED)) == {COUNT - 1}


def test_lateness_takes_the_windows_it_touches_alone() -> None:
    evidence = Evidence((other(DisturbanceKind.LATE, 10 * MS, 2 * MS),))
    assert out(gate(evidence, GEOMETRY, DRAINED)) == {10, 11}


def test_moved_cpus_take_the_whole_trial() -> None:
    mask = gate(Evidence((other(DisturbanceKind.MOVED, 0, COUNT * MS),)), GEOMETRY, DRAINED)
    assert not any(mask.clean)
    assert not any(mask.steady)
    assert mask.left_out == (LeftOut(Reason.CPUS_MOVED, 1.0),)


def test_a_slow_sample_takes_the_windows_on_both_sides() -> None:
    mask = gate(Evidence(contention=(probe(20),)), GEOMETRY, DRAINED)
    assert out(mask) == set(range(16, 24))
    assert mask.left_out == (LeftOut(Reason.CORE_SHARED, 8 / COUNT),)


def test_samples_too_far_away_say_nothing_of_a_window() -> None:
    samples = ContentionSamples(1, True, (0, 13 * MS, 22 * MS, COUNT * MS), (1.0,) * 4)
    # A window has known speed if it begins at most 6 ms after a sample and ends at most 6 ms before
    # one.
    known = {6, *range(22 - 6 - 1, 13 + 6 + 1)}
    assert (
        out(gate(Evidence(contention=(samples,)), GEOMETRY, DRAINED)) == set(range(COUNT)) - known
    )


def test_a_window_without_a_sample_before_or_after_is_not_known_to_be_fast() -> None:
    samples = ContentionSamples(1, True, (2 * MS, 6 * MS), (1.0, 1.0))
    few = replace(GEOMETRY, count=8)
    assert out(gate(Evidence(contention=(samples,)), few, (True,) * 8)) == {0, 1, 6, 7}


def test_a_slow_sample_within_a_long_window_takes_it() -> None:
    long = replace(GEOMETRY, window_ns=20 * MS, count=2)
    mask = gate(Evidence(contention=(probe(8),)), long, (True, True))
    assert mask.clean == (False, True)


def test_a_slow_generator_changes_nothing_unless_the_sut_runs_on_its_cpu() -> None:
    evidence = Evidence(contention=(probe(20, forwards=False),))
    shared = replace(GEOMETRY, forwarding_shares_generator=True)
    assert not out(gate(evidence, GEOMETRY, DRAINED))
    assert out(gate(evidence, shared, DRAINED))


def test_a_cpu_without_samples_excludes_no_window() -> None:
    evidence = Evidence(contention=(ContentionSamples(1, True, (), ()),))
    assert not out(gate(evidence, GEOMETRY, DRAINED))


@pytest.mark.parametrize(
    "evidence",
    [Evidence((stop(10_500_000, 200_000),)), Evidence(contention=(probe(8),))],
    ids=["stop", "slow phase"],
)
def test_after_a_disturbance_windows_count_from_the_first_that_begins_drained(
    evidence: Evidence,
) -> None:
    drained_again = tuple(i < 9 or i in (15, 30) for i in range(COUNT))
    mask = gate(evidence, GEOMETRY, drained_again)
    assert not any(mask.clean[11:15])
    assert all(mask.clean[15:])
    assert all(mask.steady[12:])
    assert mask.left_out[-1].why == "not yet drained"


def test_an_overload_never_drains_and_counts_all_the_same() -> None:
    # 800 frames at 8 Mpps are 100 µs: an overload of 1% fills such a path in 10 ms.
    shallow = replace(GEOMETRY, path_frames=800, width=0.01)
    mask = gate(Evidence((stop(10_500_000, 200_000),)), shallow, (False,) * COUNT)
    assert out(mask) == {9, 10, *range(11, 21)}


def test_the_first_window_of_a_trial_counts_however_full() -> None:
    assert all(gate(Evidence(), GEOMETRY, (False,) * COUNT).clean)


def test_a_window_is_excluded_for_one_reason() -> None:
    evidence = Evidence(
        (stop(20_500_000, 200_000), stop(20_500_000, 200_000, "generator")),
        (probe(20),),
    )
    mask = gate(evidence, GEOMETRY, DRAINED)
    assert mask.left_out == (LeftOut(Reason.CORE_SHARED, 8 / COUNT),)


def test_each_window_needs_its_flag() -> None:
    with pytest.raises(ValueError, match=r"40 windows came with 1 drained"):
        gate(Evidence(), GEOMETRY, (True,))


disturbances = st.lists(
    st.builds(
        Disturbance,
        st.just(1),
        st.integers(-3 * MS, 43 * MS),
        st.integers(0, 3 * MS),
        st.sampled_from([DisturbanceKind.STOPPED, DisturbanceKind.LATE]),
        st.just(Source.POLL_GAP),
        st.sampled_from(["generator", "sut"]),
    ),
    max_size=6,
)
samplings = st.lists(
    st.tuples(st.integers(-10 * MS, 60 * MS), st.sampled_from([1.0, 1.10, 1.11, 1.6])), max_size=25
).map(
    lambda pairs: ContentionSamples(
        1, True, tuple(sorted(at for at, _ in pairs)), tuple(slow for _, slow in pairs)
    )
)
evidences = st.builds(Evidence, disturbances.map(tuple), st.lists(samplings, max_size=2).map(tuple))
flags = st.lists(st.booleans(), min_size=COUNT, max_size=COUNT)
geometries = st.builds(
    replace,
    st.just(GEOMETRY),
    begin_ns=st.integers(-MS, MS),
    path_frames=st.sampled_from([0, 800, 4096, 20_000]),
    ring_frames=st.sampled_from([0, 1024]),
    width=st.sampled_from([0.005, 0.05]),
)


def slowly(evidence: Evidence, geometry: Geometry, drained: list[bool]) -> list[bool]:
    """Apply the rules once more, window by window and as written."""
    path = module.path_ns(geometry)
    clean, waiting, waited = [], False, 0
    for i in range(geometry.count):
        begin = geometry.begin_ns + i * geometry.window_ns
        end = begin + geometry.window_ns
        disturbed = False
        for d in evidence.disturbances:
            is_stop = d.kind is DisturbanceKind.STOPPED
            if is_stop and d.length_ns <= stop_limit_ns(geometry):
                continue
            before = max(1e6, path) if is_stop else 0
            disturbed |= d.begin_ns - before < end and d.begin_ns + max(1, d.length_ns) > begin
        for samples in evidence.contention:
            pairs = list(zip(samples.at_ns, samples.slowness, strict=True))
            first = max((at for at, _ in pairs if at <= begin), default=None)
            last = min((at for at, _ in pairs if at >= end), default=None)
            if not pairs:
                continue
            disturbed |= first is None or begin - first > 6 * MS
            disturbed |= last is None or last - end > 6 * MS
            if first is not None and last is not None:
                # Several samples may share one moment: the last before and the first after a window
                # count.
                at_first = [j for j, (at, _) in enumerate(pairs) if at <= begin][-1]
                at_last = next(j for j, (at, _) in enumerate(pairs) if at >= end)
                disturbed |= any(slow > 1.10 for _, slow in pairs[at_first : at_last + 1])
        if disturbed:
            waiting, waited = True, 0
        elif waiting:
            waiting = not drained[i] and waited < path / (geometry.width * geometry.window_ns)
            waited += 1
        clean.append(not disturbed and not waiting)
    return clean


@given(evidences, geometries, flags)
@settings(max_examples=150, deadline=None)
def test_the_gate_does_what_its_rules_say(
    evidence: Evidence, geometry: Geometry, drained: list[bool]
) -> None:
    assert list(gate(evidence, geometry, drained).clean) == slowly(evidence, geometry, drained)


@given(evidences, geometries, flags)
@settings(max_examples=80, deadline=None)
def test_shares_excluded_add_up_and_clean_windows_are_steady(
    evidence: Evidence, geometry: Geometry, drained: list[bool]
) -> None:
    mask = gate(evidence, geometry, drained)
    assert sum(left_out.share for left_out in mask.left_out) == pytest.approx(
        len(out(mask)) / COUNT
    )
    assert all(steady for clean, steady in zip(mask.clean, mask.steady, strict=True) if clean)


@given(evidences, evidences, geometries, flags)
@settings(max_examples=80, deadline=None)
def test_more_evidence_never_admits_a_window(
    one: Evidence, two: Evidence, geometry: Geometry, drained: list[bool]
) -> None:
    both = Evidence(one.disturbances + two.disturbances, one.contention + two.contention)
    assert out(gate(both, geometry, drained)) >= out(gate(one, geometry, drained))


def reachable(kind: object) -> set[type]:
    """Return all dataclasses that a type mentions, and those that their fields mention."""
    found = {kind} if isinstance(kind, type) and is_dataclass(kind) else set()
    inner = list(typing.get_args(kind))
    for one in list(found):
        inner += [typing.get_type_hints(one)[field.name] for field in fields(one)]
    return found.union(*(reachable(one) for one in inner))


def test_the_gates_types_hold_no_count() -> None:
    hints = typing.get_type_hints(gate)
    hints.pop("return")
    told = set().union(*(reachable(hint) for hint in hints.values()))
    assert told == {Evidence, Disturbance, ContentionSamples, Geometry}


@given(st.integers(0, 20), st.floats(0.0, 1.0))
@settings(max_examples=20, deadline=None)
def test_other_counts_make_no_other_mask(seed: int, kept: float) -> None:
    observation = simulate(Sut(8e6), 7.9e6, 0.2, LOUD, seed)
    assert observation.windows is not None
    (direction,) = observation.windows.directions
    fewer = replace(
        direction,
        received=tuple(int(n * kept) for n in direction.received),
        unsent=tuple(n // 2 for n in direction.offered),
    )
    counted_otherwise = replace(
        observation, windows=replace(observation.windows, directions=(fewer,))
    )
    geometry = geometry_of(counted_otherwise, 0.005)
    flags_now = drained(counted_otherwise, geometry)
    assert gate(observation.evidence, geometry, flags_now) == judge(observation).mask
