# SPDX-License-Identifier: Apache-2.0
"""The verb tune, on a simulated SUT whose rate depends on its settings."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from tests.support.fake_rig import FakeHost
from tests.unit.cli.conftest import Command
from wirespeed.cli.verbs import trials_run
from wirespeed.model.study.spec import Frames
from wirespeed.remote.fence import Fenced
from wirespeed.remote.interface import Runner

SCHEMA = Path(__file__).parents[3] / "schemas" / "tune.schema.json"
POINT = ("quickstart", "--set", "topology.kind=p2p", "--set", "traffic.frame=64")
FOUR = ("--only", "descriptors", "--only", "EMC", "--only", "SMC", "--only", "port memory")


@pytest.fixture
def settings(host: FakeHost, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Make the SUT faster with the EMC on by a share, and slower with the SMC."""

    def make(gain: float) -> None:
        def capacity(frames: Frames) -> float:
            ovs = frames.sut.vswitch.ovs
            return 2e6 * (1 + gain * ovs.emc) * (0.95 if ovs.smc else 1.0)

        monkeypatch.setattr(host, "capacity_of", capacity)

    return make


def test_tune_mis_set_factor_is_named_proven_and_written(
    wirespeed: Command, settings: Callable[[float], None], tmp_path: Path
) -> None:
    settings(0.2)
    page = tmp_path / "page.html"
    ended = wirespeed(
        "tune", *POINT, *FOUR, "--set", "sut.vswitch.ovs.emc=false", "--html", str(page)
    )
    assert ended.code == 0, ended.err
    assert "EMC: +20" in ended.out
    assert "sut.vswitch.ovs.emc = true" in (tmp_path / "tuned.toml").read_text()
    assert "Effect of each factor" in page.read_text()
    assert "harms" in ended.out


def test_tune_nothing_helps_ends_with_0_and_writes_nothing(
    wirespeed: Command, settings: Callable[[float], None], tmp_path: Path
) -> None:
    settings(0.2)
    ended = wirespeed("tune", *POINT, *FOUR)
    assert ended.code == 0
    assert "No setting is worth changing here" in ended.out
    assert not (tmp_path / "tuned.toml").exists()


def test_tune_json_follows_the_schema(
    wirespeed: Command, settings: Callable[[float], None]
) -> None:
    settings(0.2)
    ended = wirespeed("tune", *POINT, *FOUR, "--json", "--set", "sut.vswitch.ovs.emc=false")
    document = json.loads(ended.out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    assert document["overrides"] == {"sut.vswitch.ovs.emc": True}


def test_tune_cut_short_goes_on_with_resume(
    wirespeed: Command, settings: Callable[[float], None], host: FakeHost,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    settings(0.2)
    words = ("tune", *POINT, *FOUR, "--set", "sut.vswitch.ovs.emc=false")
    opened = host.opened

    def cut(number: int) -> None:
        if number == 10:
            raise KeyboardInterrupt

    monkeypatch.setattr(host, "before_bench", cut)
    assert wirespeed(*words).code == 130
    measured = len(opened)
    monkeypatch.setattr(host, "before_bench", lambda _number: None)
    ended = wirespeed(*words, "--resume")
    assert ended.code == 0, ended.err
    assert "9 measured" in ended.err
    assert "EMC: +20" in ended.out
    assert len(opened) > measured


def test_tune_resume_without_an_unfinished_run_is_refused(wirespeed: Command) -> None:
    wirespeed("run", "wire")
    ended = wirespeed("tune", *POINT, *FOUR, "--resume")
    assert ended.code == 2
    assert "no unfinished run" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--only", "descriptor"), "Did you mean 'descriptors'"),
        (("--never", "EMC", "--only", "EMC"), "both name 'EMC'"),
        (("--goal", "mmr"), "Goals: mrr, mrr-all-time, ndr, p99, p999"),
        (("--goal", "cpu-per-frame"), "whole CPU"),
        (("--minutes", "1"), "at least"),
        (("--minutes", "1", *FOUR), "28 measurements, about 6 min 43 s"),
        (("--never", "EMK"), "Did you mean 'EMC'"),
        (("--only", "KSM", "--only", "EMC", "--never", "EMC"), "both name 'EMC'"),
        (("--goal", "ndr", "--set", "search.kind=mrr"), "measures no ndr"),
    ],
)
def test_tune_bad_input_is_one_error(wirespeed: Command, words: tuple[str, ...], said: str) -> None:
    ended = wirespeed("tune", *POINT, *words)
    assert ended.code == 2
    assert said in ended.err


@pytest.mark.parametrize(
    ("takes", "words", "said"),
    [
        ("cpus = 2", ("--more-cpus", "1"), "it takes 2 more CPUs, and --more-cpus allows 1"),
        (
            "memory_mib = 3000", ("--more-memory", "2048"),
            "it takes 3000 MiB more, and --more-memory allows 2048",
        ),
    ],
)  # fmt: skip
def test_tune_factor_that_is_wanted_and_too_dear_is_one_error(
    wirespeed: Command, tmp_path: Path, *, takes: str, words: tuple[str, ...], said: str
) -> None:
    file = tmp_path / "factors.toml"
    file.write_text(f'[[factor]]\nname = "d"\n{takes}\n"sut.vswitch.ovs.smc" = true\n')
    ended = wirespeed("tune", *POINT, "--factors", str(file), "--only", "d", *words)
    assert ended.code == 2
    assert f"--only names 'd', and {said}" in ended.err
    # Not asked for by name, it is excluded with the reason.
    ended = wirespeed("tune", *POINT, "--factors", str(file), *words)
    assert ended.code == 2
    assert said in ended.err


def test_tune_baseline_that_drifts_between_blocks_is_void_and_claims_nothing(
    wirespeed: Command, host: FakeHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def capacity(frames: Frames) -> float:
        slower = 0.5 if len(host.opened) > 8 else 1.0  # a block has 8 measurements
        return 2e6 * slower * (1.2 if frames.sut.vswitch.ovs.emc else 1.0)

    monkeypatch.setattr(host, "capacity_of", capacity)
    ended = wirespeed("tune", *POINT, *FOUR, "--set", "sut.vswitch.ovs.emc=false")
    assert ended.code == 0, ended.err
    assert "The result is void: the host drifted" in ended.out
    assert not (tmp_path / "tuned.toml").exists()


def test_tune_goal_of_frames_for_a_study_of_tcp_is_one_error(wirespeed: Command) -> None:
    point = "TCP over veth, mtu 9000, queues 4, streams 12, offloads off"
    ended = wirespeed("tune", "s0-speedtest", "--point", point)
    assert ended.code == 2
    assert "--goal mrr is of frames" in ended.err


def test_tune_host_that_another_controller_has_leased_is_refused(
    wirespeed: Command, monkeypatch: pytest.MonkeyPatch, host: FakeHost
) -> None:
    def leased(runner: Runner) -> None:
        raise Fenced(f"{runner.name} is in use by the lease with token 7")

    monkeypatch.setattr(trials_run, "check_not_leased", leased)
    ended = wirespeed("tune", *POINT, *FOUR)
    assert ended.code == 1
    assert "in use by the lease" in ended.err
    assert not host.opened


def test_tune_study_of_several_points_asks_which(wirespeed: Command) -> None:
    ended = wirespeed("tune", "quickstart")
    assert ended.code == 2
    assert "--point" in ended.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[factor]]\nname = "d"\n"sut.vswitch.descriptors" = 4096\n', "both levels are equal"),
        ('[[factor]]\nname = "d"\n"sut.vswitch.descriptor" = 4096\n', "Did you mean"),
        ('[[factor]]\nname = "d"\n', "sets nothing"),
        ('[[factor]]\nname = "d"\nhost = { "/etc/passwd" = "x" }\n', "must be below"),
        (
            '[[factor]]\nname = "d"\nneeds = "reboot"\n"sut.vswitch.ovs.smc" = true\n',
            "factor 'd' needs a reboot, and tune makes none\nLeave it out with --never 'd'",
        ),
        ('[[factor]]\nname = "d"\n"sut.vswitch.ovs.rxq_assign" = "groop"\n', "'group' or"),
        (
            '[[factor]]\nname = "a"\n"sut.vswitch.ovs.smc" = true\n'
            '[[factor]]\nname = "b"\n"sut.vswitch.ovs.smc" = true\n',
            "both set",
        ),
        ("factor = 1\n", "[[factor]]"),
    ],
)
def test_tune_bad_factor_file_is_one_error(
    wirespeed: Command, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "factors.toml"
    file.write_text(text)
    ended = wirespeed("tune", *POINT, "--factors", str(file))
    assert ended.code == 2
    assert said in ended.err
