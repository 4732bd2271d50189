# SPDX-License-Identifier: Apache-2.0
"""Check the move of a bench's cases and parameters to the server of a host document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wirespeed.host.file import HOST_FILE
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.prediction import Arrangement, Attachment, Case, Edge, RateKind, Resource
from wirespeed.predict.bench import fit_bench
from wirespeed.predict.observation import Observation
from wirespeed.predict.predict import predict
from wirespeed.predict.published import S2_CLOCK_HZ, published, shipped_parameters
from wirespeed.predict.server import Server, at_clock, for_server, on_server, server_of

EXAMPLES = Path(__file__).parents[3] / "examples"
S2 = shipped_parameters()
HERE_HZ = 2.6e9


def facts(example: str) -> HostFacts:
    path = EXAMPLES / example / "host.json"
    return HOST_FILE.parse(path.read_text(encoding="utf-8"), str(path))


def test_server_of_s2_has_its_clock_link_and_slot() -> None:
    found = server_of(facts("s2-chains"), "host.json")
    assert found == Server("s2-r730", S2_CLOCK_HZ, 40e9, 8, 8.0)


def test_server_of_cpu_without_clock_is_rejected() -> None:
    with pytest.raises(BadInput, match=r"host\.json: CPU model 'AMD EPYC' names no clock"):
        server_of(replace(facts("s2-chains"), cpu_model="AMD EPYC"), "host.json")


def test_server_of_host_without_nic_speed_is_rejected() -> None:
    with pytest.raises(BadInput, match="no NIC port has a known speed"):
        server_of(replace(facts("s2-chains"), interfaces=()), "host.json")


def test_at_clock_scales_cores_and_leaves_the_nic() -> None:
    faster = at_clock(S2, 2 * S2_CLOCK_HZ)
    assert faster.values["vhost_rx_ns"].value == S2.values["vhost_rx_ns"].value / 2
    assert faster.values["engine_ns"] == S2.values["engine_ns"]


def test_at_clock_without_own_clock_is_rejected() -> None:
    with pytest.raises(BadInput, match="no clock_hz"):
        at_clock(replace(S2, clock_hz=None), 1e9)


def test_on_server_gives_each_part_a_core_and_a_nic() -> None:
    bench = Case(
        Attachment.VHOST, functions=4, edge=Edge.VIRTUAL, pmds=1, idle_ports=5, shared_core=True,
        offered_fps=1e6,
    )  # fmt: skip
    server = server_of(facts("s2-chains"), "host.json")
    assert on_server(bench, server) == Case(Attachment.VHOST, functions=4)


def bench_cases() -> list[Case]:
    """Return the cases of a bench of two CPUs.

    One CPU is the PMD core; functions and generator share the other.
    """
    shared = {"edge": Edge.VIRTUAL, "pmds": 1, "shared_core": True}
    sizes = (64, 512, 1518)
    return [
        *(Case(Attachment.NONE, functions=0, frame_bytes=size, **shared) for size in sizes),  # type: ignore[arg-type]
        *(
            Case(Attachment.VHOST, arrangement, functions, size, **shared)  # type: ignore[arg-type]
            for arrangement in Arrangement
            for functions in (1, 2, 4, 8)
            for size in sizes
        ),
    ]


def test_fit_of_a_small_bench_predicts_the_large_server() -> None:
    """Check that a bench with S2's cycles, another clock and 5% of noise reproduces S2's curves."""
    truth = at_clock(S2, HERE_HZ)
    truth = replace(truth, values=truth.values | {
        "generator_ns": S2.values["poll_ns"], "port_ns": S2.values["poll_ns"]})  # fmt: skip
    noise = np.random.default_rng(1).normal(1.0, 0.05, 1000)
    cases = bench_cases()
    seen = [
        Observation(case, found.rate_fps * noise[at], RateKind.MRR, "")
        for at, (case, found) in enumerate(zip(cases, predict(cases, truth), strict=True))
    ]
    server = server_of(facts("s2-chains"), "host.json")
    there = for_server(fit_bench(seen, "a bench", HERE_HZ), S2, server)
    for arrangement in Arrangement:
        theirs = [
            o for o in published("s2")
            if (o.case.attachment, o.case.arrangement) == (Attachment.VHOST, arrangement)
        ]  # fmt: skip
        ours = predict([on_server(o.case, server) for o in theirs], there)
        logs = np.log([[p.rate_fps for p in ours], [o.rate_fps for o in theirs]])
        assert np.corrcoef(logs)[0, 1] >= 0.9
    busiest = predict([on_server(cases[3], server)], there)[0].limit.resource
    assert busiest in (Resource.NIC_PMD, Resource.VHOST_PMD, Resource.FUNCTION)


def test_fit_of_a_small_bench_determines_the_classifier() -> None:
    truth = at_clock(S2, HERE_HZ)
    truth = replace(truth, values=truth.values | {"generator_ns": S2.values["poll_ns"]})
    cases = [case for case in bench_cases() if case.attachment is Attachment.VHOST]
    seen = [
        Observation(case, found.rate_fps, RateKind.MRR, "")
        for case, found in zip(cases, predict(cases, truth), strict=True)
    ]
    found = fit_bench(seen, "a bench", HERE_HZ).values
    assert found["classifier_ns"].determined
    assert found["classifier_ns"].value == pytest.approx(
        truth.values["classifier_ns"].value, rel=0.02
    )
    assert found["function_ns"].value == truth.values["function_ns"].value


def test_for_server_says_whose_nic_it_takes() -> None:
    server = server_of(facts("s2-chains"), "host.json")
    bench = replace(
        S2, source="a bench", values={n: e for n, e in S2.values.items() if n != "engine_ns"}
    )
    found = for_server(bench, S2, server)
    assert found.source == f"a bench, at 2.2 GHz; NIC of {S2.source}"
    assert found.values["engine_ns"] == S2.values["engine_ns"]
