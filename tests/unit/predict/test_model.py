# SPDX-License-Identifier: Apache-2.0
"""Check that predicted rates behave as the physics requires."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.model.errors import BadInput
from wirespeed.model.plan.prediction import Arrangement, Attachment, Case, Counted, Edge, Resource
from wirespeed.model.units import line_rate_fps
from wirespeed.predict.ask import sensitivity
from wirespeed.predict.check import errors
from wirespeed.predict.demands import Cases, classified
from wirespeed.predict.parameters import Parameters
from wirespeed.predict.pcie import in_and_out, octets_per_ns
from wirespeed.predict.predict import ndr_share, predict, rates
from wirespeed.predict.published import published, shipped_parameters

S2 = shipped_parameters()
SRIOV = Case(Attachment.SRIOV, Arrangement.CHAIN, 4, 64)
CASES = st.builds(
    Case,
    st.sampled_from([Attachment.VHOST, Attachment.SRIOV]),
    st.sampled_from(Arrangement),
    st.integers(1, 12),
    st.integers(64, 9216),
    counted=st.sampled_from(Counted),
)


@given(CASES)
def test_no_resource_is_over_one_and_no_link_beyond_line_rate(case: Case) -> None:
    found = predict([case], S2)[0]
    assert all(0 < load.utilisation <= 1 + 1e-9 for load in found.loads)
    assert found.low_fps < found.rate_fps < found.high_fps
    hops = 1
    if case.counted is Counted.TRANSMITTED and case.arrangement is Arrangement.CHAIN:
        hops = case.functions
    assert found.rate_fps <= hops * line_rate_fps(case.link_bps, case.frame_bytes) * (1 + 1e-9)


@given(CASES, st.integers(1, 512))
def test_a_longer_frame_is_never_faster_and_a_second_nic_never_slower(
    case: Case, more: int
) -> None:
    longer = replace(case, frame_bytes=case.frame_bytes + more)
    second = replace(case, nics=2, ports=2)
    delivered = [replace(c, counted=Counted.DELIVERED) for c in (case, longer, second)]
    base, slower, wider = rates(delivered, S2)
    # A refused frame costs the engine. Longer frames mean fewer refusals, which can outweigh 64
    # octets.
    if case.attachment is Attachment.VHOST:
        assert slower <= base * (1 + 1e-9)
    assert wider >= base * (1 - 1e-9)


def test_chains_over_the_nic_share_it_and_chains_over_vhost_do_not() -> None:
    def delivered(kind: Attachment, functions: int) -> float:
        return predict([replace(SRIOV, attachment=kind, functions=functions)], S2)[0].rate_fps

    assert delivered(Attachment.SRIOV, 8) == pytest.approx(
        delivered(Attachment.SRIOV, 2) / 4, rel=1e-3
    )
    assert delivered(Attachment.VHOST, 8) == pytest.approx(delivered(Attachment.VHOST, 2), rel=1e-6)


def test_the_shipped_parameters_explain_s2s_table() -> None:
    """Require errors of at most 1.2% (median), 2.2% (mean) and 5.5% (90th percentile)."""
    observations = published("s2")
    missed = np.abs(errors(observations, S2.plain()))
    assert len(observations) == 180
    assert np.median(missed) < 0.012
    assert missed.mean() < 0.022
    assert np.percentile(missed, 90) < 0.055


def test_pcie_of_a_frame_of_one_tlp_by_hand() -> None:
    """Compare with 64 octets by hand: 60 of data, write 86, read request 26, and the rest.

    The rest is two write-backs of 22.5 and two requests.
    """
    into, out = in_and_out(64)
    assert into == pytest.approx(60 + 26 + 2 * (16 + 26 / 4) + 26 + 2 * 26 / 4)
    assert out == pytest.approx(60 + 22 + 2 * (16 + 22 / 4) + 2 * 30 / 32)
    assert octets_per_ns(8, 8.0) * 8 == pytest.approx(63.0 * 0.92, rel=1e-3)
    assert in_and_out(64 + 256)[0] > in_and_out(64)[0] + 256, "a second TLP has its header"


def test_more_pmds_help_where_the_pmds_are_the_limit() -> None:
    case = Case(Attachment.VHOST, Arrangement.CHAIN, 2, 64, edge=Edge.VIRTUAL, pmds=1, idle_ports=3)
    assert predict([case], S2)[0].limit.resource is Resource.PMDS
    best = sensitivity(case, S2)[0]
    assert best.what == "1 more PMD core"
    # More than double: two exact match caches hold the three hops that one does not.
    assert 1 < best.gain < 1.3


def bench_chain(functions: int, pmds: int = 1) -> Case:
    """Return a chain on the bench, whose PMD cores share all ports."""
    return Case(
        Attachment.VHOST, Arrangement.CHAIN, functions, edge=Edge.VIRTUAL, pmds=pmds,
        idle_ports=functions + 1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("case", "missed"),
    [
        (bench_chain(1), 0),
        (bench_chain(2), 1),
        (bench_chain(3), 2),
        (bench_chain(8), 7),
        (bench_chain(8, pmds=2), 5),
        (bench_chain(8, pmds=9), 0),
        (replace(bench_chain(8), pmds=None, edge=Edge.NIC), 0),
        (replace(bench_chain(8), arrangement=Arrangement.PARALLEL), 0),
        (Case(Attachment.NONE, Arrangement.CHAIN, 0, edge=Edge.VIRTUAL, pmds=1), 0),
        (SRIOV, 0),
    ],
)
def test_classified_hops_of_a_core_beyond_two_miss_its_cache(case: Case, missed: float) -> None:
    assert classified(Cases.of([case]))[0] == missed


def test_classified_share_is_that_of_measured_hits() -> None:
    """Compare with hits that pmd-perf-show counted: 97, 65, 48, 39, 28 and 21% of the passes."""
    for functions, hits in ((1, 0.969), (2, 0.645), (3, 0.483), (4, 0.386), (6, 0.276), (8, 0.214)):
        passes = functions + 1
        missed = classified(Cases.of([bench_chain(functions)]))[0]
        assert 1 - missed / passes == pytest.approx(hits, abs=0.035)


def test_chain_of_one_needs_no_classifier_and_of_two_does() -> None:
    unknown = replace(S2, values={n: e for n, e in S2.values.items() if n != "classifier_ns"})
    cases = [bench_chain(1)]
    assert rates(cases, unknown) == pytest.approx(rates(cases, S2))
    with pytest.raises(BadInput, match="no classifier_ns"):
        predict([bench_chain(2)], unknown)


@given(st.sampled_from(Arrangement), st.integers(1, 40), st.integers(1, 8))
def test_more_functions_on_the_same_cores_are_never_faster(
    arrangement: Arrangement, functions: int, pmds: int
) -> None:
    base = replace(bench_chain(functions, pmds), arrangement=arrangement)
    more = replace(base, functions=functions + 1, idle_ports=functions + 2)
    less, rate = rates([more, base], S2)
    assert less <= rate * (1 + 1e-9)


def test_predict_missing_parameter_is_rejected() -> None:
    with pytest.raises(BadInput, match=": no port_ns"):
        predict([Case(Attachment.NONE, functions=0)], S2)
    nothing = Parameters("nothing", {}, 0.1, "", 0)
    with pytest.raises(BadInput, match="engine_ns"):
        predict([SRIOV], nothing)


@given(st.integers(64, 4096), st.integers(64, 4096))
def test_deeper_rings_lose_later(one: int, other: int) -> None:
    shallow, deep = sorted((one, other))
    assert 0 < ndr_share(shallow) <= ndr_share(deep) < 1
