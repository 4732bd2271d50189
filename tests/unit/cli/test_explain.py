# SPDX-License-Identifier: Apache-2.0
"""Check wirespeed explain, on runs of a SUT that forwards more with more receive queues."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest

from tests.support.fake_rig import FACTS, FakeBench, FakeHost, plan_of
from tests.unit.cli.conftest import Command
from tests.unit.report.test_explained import problems
from wirespeed.model.errors import WirespeedError
from wirespeed.model.plan.plan import Decision, Plan
from wirespeed.model.result.hop_counts import INGRESS
from wirespeed.model.result.observation import Observation
from wirespeed.model.study.spec import Frames, Workload
from wirespeed.session import rig
from wirespeed.study.interface import Rig

QUICK = ("run", "quickstart", "--set", "topology.kind=p2p", "--set", "traffic.frame=64")
P2P = "p2p, 64 B"


class Queues(FakeBench):
    """A bench that loses frames at its first ring."""

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        seen = super().measure(load_fps, duration_s)
        drops = tuple(replace(drop, hop=INGRESS) for drop in seen.drops)
        return replace(seen, drops=drops)


def with_a_pmd(workload: Workload) -> Plan:
    """Return a plan with a PMD thread on CPU 1, so that CPU 0 has room for another."""
    [host] = plan_of(workload).hosts
    vswitch = host.vswitch and replace(host.vswitch, pmd_cpus=Decision((1,), "of the test"))
    return Plan((replace(host, vswitch=vswitch),))


@dataclass
class QueuesHost(FakeHost):
    """A host that forwards 2 Mpps a queue."""

    @property
    def rig(self) -> Rig:
        return replace(super().rig, plan=with_a_pmd)

    @contextmanager
    def _open(self, spec: Frames, _plan: Plan, _name: str) -> Iterator[FakeBench]:
        self.opened.append(spec)
        yield Queues(2e6 * spec.sut.vswitch.rx_queues)


@pytest.fixture
def queues(wirespeed: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return the command on that host, with a run of one point."""
    host = QueuesHost()
    monkeypatch.setattr(rig, "local_rig", lambda: host.rig)
    assert wirespeed(*QUICK).code == 0
    return wirespeed


def test_explain_brief_is_a_line_for_each_point(queues: Command) -> None:
    ended = queues("explain", "latest", "--brief")
    assert (ended.code, ended.err) == (0, "")
    [line] = ended.out.splitlines()
    assert line.startswith(f"{P2P}: NDR 1.99")
    assert "; limited by switch CPU; to change: Add a PMD core and an Rx queue (" in line
    refused = queues("explain", "latest", "--brief", "--json")
    assert (refused.code, "--brief, --json: only one" in refused.err) == (2, True)


def test_explain_prints_limits_and_changes(queues: Command) -> None:
    ended = queues("explain", "latest")
    assert (ended.code, ended.err) == (0, "")
    assert "switch CPU         limits" in ended.out
    assert "Mpps is the lowest load that lost frames" in " ".join(ended.out.split())
    assert "1. Add a PMD core and an Rx queue" in ended.out
    assert "Expected gain: not known." in ended.out
    assert "sut.vswitch.rx_queues=2" in ended.out


def test_all_points_are_explained_where_none_is_named(wirespeed: Command) -> None:
    wirespeed("run", "quickstart")
    said = wirespeed("explain", "latest").out
    assert said.count("To change, the largest expected gain first") == 6
    assert wirespeed("explain", "quickstart-1", "pvp, 1518").out.count("To change") == 1


@pytest.mark.parametrize("columns", [80, 120])
def test_no_line_is_wider_than_the_terminal(
    wirespeed: Command, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    wirespeed("run", "quickstart")
    monkeypatch.setenv("COLUMNS", str(columns))
    found = wirespeed("explain", "latest").out.splitlines()
    assert [line for line in found if len(line.rstrip()) > columns] == []


def test_json_follows_the_schema(queues: Command) -> None:
    document = json.loads(queues("explain", "latest", P2P, "--json").out)
    assert problems(document) == []
    assert document["tried"] is None
    assert document["points"][0]["changes"][0]["proposal"]["keys"][-1] == {
        "key": "sut.vswitch.rx_queues", "value": 2,
    }  # fmt: skip


@pytest.mark.parametrize("words", [("--pairs", "3"), ("--lab", "lab.toml")])
def test_options_of_try_are_refused_without_try(wirespeed: Command, words: tuple[str, ...]) -> None:
    ended = wirespeed("explain", "latest", *words)
    assert ended.code == 2
    assert "--pairs, --lab: they need --try" in ended.err


def test_tcp_is_explained_by_its_verdict(wirespeed: Command) -> None:
    assert wirespeed("run", "s0-speedtest", "--set", "tcp.offloads=false").code == 0
    ended = wirespeed("explain", "latest", "--json")
    document = json.loads(ended.out)
    assert problems(document) == []
    assert {point["limits"][0]["limit"] for point in document["points"]} == {"path"}
    assert all(point["resources"] == [] for point in document["points"])
    assert wirespeed("explain", "latest").code == 0


def test_an_emulated_run_says_that_it_tells_nothing_of_speed(
    wirespeed: Command, host: FakeHost
) -> None:
    host.emulated = "its NIC is QEMU's"
    wirespeed(*QUICK)
    said = wirespeed("explain", "latest").out
    assert "emulated: says nothing about speed" in said
    assert "it needs another host, one with KVM" in said
    assert "resource" not in said


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("nonsense-1",), "run 'nonsense-1': not among the 1 runs"),
            (("latest", "nonsense"), "point 'nonsense': not among the 1 of run quickstart-1"),
            (("latest", "--try", "--pairs", "0"), "--pairs 0: must be 1 to 100"),
        ],
    )
    def test_bad_arguments_are_one_error(
        self, queues: Command, arguments: tuple[str, ...], said: str
    ) -> None:
        ended = queues("explain", *arguments)
        assert ended.code == 2
        assert ended.err.startswith(f"wirespeed: {said}")
        assert ended.err.count("wirespeed: ") == 1

    def test_try_without_a_point_is_refused(self, wirespeed: Command) -> None:
        wirespeed("run", "quickstart")
        ended = wirespeed("explain", "latest", "--try")
        assert (ended.code, "Name the point" in ended.err, ended.out) == (2, True, "")

    def test_a_run_of_another_host_is_not_tried_here(
        self, queues: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = replace(QueuesHost().rig, facts=replace(FACTS, host="another"))
        monkeypatch.setattr(rig, "local_rig", lambda: other)
        ended = queues("explain", "latest", "--try")
        assert ended.code == 2
        assert "was measured on testhost, this is another" in ended.err

    def test_try_without_a_known_change_exits_with_1_and_its_reason(
        self, wirespeed: Command
    ) -> None:
        """The reference SUT limits itself, and there is nothing to change."""
        wirespeed("run", "wire")
        ended = wirespeed("explain", "latest", "--try")
        assert ended.code == 1
        assert "there is no change to try: nothing is known to help" in ended.err


def test_try_measures_the_first_change_and_stores_the_run(queues: Command) -> None:
    ended = queues("explain", "latest", P2P, "--try", "--pairs", "2", "--json")
    assert ended.code == 0
    document = json.loads(ended.out)
    assert problems(document) == []
    tried = document["tried"]
    assert (tried["run"], tried["figure"], tried["pairs_measured"]) == (
        "try-quickstart-1",
        "NDR",
        2,
    )
    assert tried["gain"]["gain"] == pytest.approx(1.0, rel=0.05)
    assert (tried["gain"]["confidence"], tried["gain"]["verdict"]) == (0.5, "no difference shown")
    labels = [p["label"] for p in json.loads(queues("report", "latest", "--json").out)["points"]]
    assert labels == [
        "as it was, pair 1", "changed, pair 1", "changed, pair 2", "as it was, pair 2",
    ]  # fmt: skip


def test_try_reports_the_gain_with_its_interval(queues: Command) -> None:
    said = queues("explain", "latest", P2P, "--try").out
    assert "Measured gain: +" in said
    assert "with 99.2% confidence (ranks of 8 pairs, of 8 measured): brings more." in said
    assert "Run try-quickstart-1." in said


def test_try_cut_short_goes_on_and_keeps_half_a_pair(
    queues: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = QueuesHost()

    @contextmanager
    def in_the_sixth(spec: Frames, plan: Plan, name: str) -> Iterator[FakeBench]:
        if len(host.opened) == 5:
            raise WirespeedError("the sixth point cannot be measured")
        with QueuesHost._open(host, spec, plan, name) as bench:
            yield bench

    broken = replace(host.rig, open_bench=in_the_sixth)
    monkeypatch.setattr(rig, "local_rig", lambda: broken)
    command = ("explain", "latest", P2P, "--try", "--pairs", "4")
    ended = queues(*command)
    assert ended.code == 1
    assert "run try-quickstart-1 is incomplete" in ended.err
    assert "The same command goes on with it." in ended.err
    again = QueuesHost()
    monkeypatch.setattr(rig, "local_rig", lambda: again.rig)
    named = ("explain", "quickstart-1", *command[2:])
    ended = queues(*named)
    assert ended.code == 0
    assert "run try-quickstart-1 goes on: 5 of its 8 points are measured" in ended.err
    assert len(again.opened) == 3
    assert "8 of 8 measurements matched" in ended.out
    assert "of 4 pairs, of 4 measured" in ended.out
    assert "Run try-quickstart-1." in ended.out
    # A complete run is measured anew, as another run.
    assert "Run try-quickstart-2." in queues(*named).out
