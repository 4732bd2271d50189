# SPDX-License-Identifier: Apache-2.0
"""The verbs `compare --interleaved` and `bisect`, on a SUT whose rate depends on its settings."""

from __future__ import annotations

import json

import pytest

from tests.support.fake_rig import FakeHost
from tests.unit.cli.conftest import Command
from wirespeed.model.study.spec import Frames

POINT = ("--set", "topology.kind=p2p", "--set", "traffic.frame=64")
STUDIES = ("quickstart", "quickstart")


@pytest.fixture(autouse=True)
def _settings(host: FakeHost) -> None:
    """Let the EMC and the number of queues change the rate, and nothing else."""

    def capacity(frames: Frames) -> float:
        vswitch = frames.sut.vswitch
        return 2e6 * (1.2 if vswitch.ovs.emc else 1.0) * (0.9 if vswitch.rx_queues > 1 else 1.0)

    host.capacity_of = capacity


def test_compare_interleaved_better_b_is_reported_with_its_interval(wirespeed: Command) -> None:
    ended = wirespeed(
        "compare", "--interleaved", *STUDIES, *POINT, "--set-a", "sut.vswitch.ovs.emc=false"
    )
    assert ended.code == 0, ended.err
    assert "B brings more mrr than A: +20.0%" in ended.out


def test_compare_interleaved_worse_b_ends_with_1(wirespeed: Command) -> None:
    words = ("--set-b", "sut.vswitch.ovs.emc=false", "--json")
    ended = wirespeed("compare", "--interleaved", *STUDIES, *POINT, *words)
    assert ended.code == 1
    document = json.loads(ended.out)
    assert document["answer"] == "less"
    assert document["high"] < 0


def test_compare_interleaved_equal_rates_are_the_same(wirespeed: Command) -> None:
    words = ("--set-b", "sut.vswitch.descriptors=1024", "--control")
    ended = wirespeed("compare", "--interleaved", *STUDIES, *POINT, *words)
    assert ended.code == 0
    assert "differ by less than 2.0%" in ended.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--interleaved", *STUDIES, *POINT), "same point"),
        (("--interleaved", *STUDIES), "Name one with --point"),
        (("--interleaved", *STUDIES, *POINT, "--tolerance", "1%"), "--tolerance: it is for two"),
        (("one", "two", "--control"), "--control: it is for --interleaved"),
        (("one", "two", "--set-b", "traffic.frame=64"), "--set-b: it is for --interleaved"),
    ],
)
def test_compare_bad_options_are_one_error(
    wirespeed: Command, words: tuple[str, ...], said: str
) -> None:
    ended = wirespeed("compare", *words)
    assert ended.code == 2
    assert said in ended.err


DIFFERENT = (
    "--set-b", "sut.vswitch.ovs.emc=false", "--set-b", "sut.vswitch.rx_queues=2",
    "--set-b", "sut.vswitch.descriptors=1024", "--set-b", "sut.vswitch.ovs.smc=true",
    "--set-b", "traffic.flows=100", "--set-b", "sut.vswitch.ovs.memory=per-port", "--pairs", "3",
)  # fmt: skip


def test_bisect_two_of_six_differences_are_named_and_proven(wirespeed: Command) -> None:
    ended = wirespeed("bisect", *STUDIES, *POINT, *DIFFERENT, "--json")
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    assert document["blamed"] == ["sut.vswitch.rx_queues", "sut.vswitch.ovs.emc"]
    assert document["proven"]
    assert len(document["probes"]) <= 24


def test_bisect_difference_that_cannot_be_tried_is_listed(wirespeed: Command) -> None:
    words = ("--set-b", "sut.vswitch.pmd_cpus=[0]", "--set-a", "sut.vswitch.mtu=2000")
    ended = wirespeed("bisect", *STUDIES, *POINT, *DIFFERENT, *words)
    assert ended.code == 0
    assert "Cannot be tried here: sut.vswitch.mtu" in ended.out
    assert "It matters: sut.vswitch.ovs.emc: true in A, false in B" in ended.out


def test_bisect_equal_studies_are_refused(wirespeed: Command) -> None:
    ended = wirespeed("bisect", *STUDIES, *POINT)
    assert ended.code == 2
    assert "same point" in ended.err
