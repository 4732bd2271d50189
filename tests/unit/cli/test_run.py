# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import errno
import json
import shlex
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.support.fake_rig import FACTS, PLAN, FakeHost
from tests.unit.cli.conftest import Command
from wirespeed.audit.registry import all_rules
from wirespeed.bench.interface import BenchError
from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.errors import BadInput
from wirespeed.model.plan.plan import Plan
from wirespeed.model.study.spec import Frames
from wirespeed.session import rig
from wirespeed.study.interface import Rig

SCHEMA = Path(__file__).parents[3] / "schemas" / "result.schema.json"


def test_json_is_all_that_is_on_stdout(wirespeed: Command, host: FakeHost) -> None:
    ended = wirespeed("run", "wire", "--json")
    assert ended.code == 0
    result = json.loads(ended.out)
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(result)
    assert result["run"]["id"] == "wire-1"
    assert result["run"]["command"] == ["wirespeed", "run", "wire", "--json"]
    ndr = result["points"][0]["result"]["ndr"]["lower"]["rate"]
    assert ndr == {"value": pytest.approx(3e6, rel=0.005), "unit": "fps"}
    assert host.closed == 1


def test_a_run_says_what_the_audit_found_on_its_host_and_what_limits_each_point(
    wirespeed: Command,
) -> None:
    document = json.loads(wirespeed("run", "wire", "--json").out)
    (audit,) = document["audits"]
    assert audit["host"] == document["hosts"][0]["host"] == "testhost"
    assert {finding["rule"] for finding in audit["findings"]} == {rule.id for rule in all_rules()}
    (point,) = document["points"]
    assert point["dut_type"] == "reference"
    first = point["explanations"][0]
    assert first["limit"] == "rx_ring_full"
    heading, row = wirespeed("run", "wire").out.splitlines()[:2]
    assert heading.endswith("limited by")
    assert row.endswith("reference SUT")


def test_progress_is_one_line_a_point_on_stderr(wirespeed: Command) -> None:
    ended = wirespeed("run", "wire", "--json")
    before, line = ended.err.splitlines()
    assert before.startswith("1 point to measure, about ")
    assert line.startswith("[1/1] wire, 64 B: NDR 2.99")
    assert ", grade " in line


def test_verbose_progress_is_one_line_a_trial(wirespeed: Command) -> None:
    ended = wirespeed("run", "wire", "--json", "-v")
    _, *lines = ended.err.splitlines()
    trials = len(json.loads(ended.out)["points"][0]["trials"])
    assert len(lines) == trials + 2
    assert lines[0] == "[1/1] wire, 64 B: bringing up the bench"
    assert lines[-1].startswith("[1/1] wire, 64 B: NDR 2.99")
    assert all(line.startswith("[1/1] wire, 64 B: ") for line in lines)


def test_a_grade_may_be_required(wirespeed: Command, host: FakeHost) -> None:
    assert wirespeed("run", "wire", "--require-grade", "A").code == 0
    refused = wirespeed("run", "wire", "--require-grade", "D")
    assert refused.code == 2
    assert "--require-grade D: must be A, B or C" in refused.err
    assert len(host.opened) == 1


def test_required_placement_that_no_point_has_exits_with_1(wirespeed: Command) -> None:
    wanted = ("--set", "search.placement=one cache")
    printed = wirespeed("run", "wire", *wanted)
    assert printed.code == 0
    assert "wire, 64 B: no rate with polling CPUs within one cache, which search." in printed.out
    assert "CPU placement not known" in printed.out
    ended = wirespeed("run", "wire", *wanted, "--require-placement", "--json")
    assert ended.code == 1
    assert "1 of 1 points are not of the placement that they ask for" in ended.err
    [note] = json.loads(ended.out)["points"][0]["result"]["notes"]
    assert "no rate with polling CPUs within one cache" in note


def test_wanted_placement_that_did_not_come_is_in_the_table(
    wirespeed: Command, host: FakeHost
) -> None:
    host.placement = CpuPlacement(210.0, 1.0)
    ended = wirespeed("run", "wire", "--set", "search.placement=one cache", "-q")
    assert ended.code == 0
    assert "CPUs" in ended.out.splitlines()[0]
    assert "across" in ended.out.splitlines()[1]


def test_required_placement_that_the_study_does_not_name_is_refused(
    wirespeed: Command, host: FakeHost
) -> None:
    ended = wirespeed("run", "wire", "--require-placement")
    assert ended.code == 2
    assert "study wire sets no search.placement" in ended.err
    assert not host.opened


def test_required_placement_that_every_point_has_exits_with_0(
    wirespeed: Command, host: FakeHost
) -> None:
    host.placement = CpuPlacement(45.0, 1.0)
    ended = wirespeed("run", "wire", "--set", "search.placement=one cache", "--require-placement")
    assert ended.code == 0


def test_people_get_a_table_a_warning_and_the_way_to_the_report(wirespeed: Command) -> None:
    Path("out").mkdir()
    ended = wirespeed("run", "quickstart", "--html", "out/first.html")
    assert ended.code == 0
    assert "pvp, 1518 B" in ended.out
    assert "Not RFC 2544 conformant" in ended.out
    report = Path("out/first.html").absolute()
    assert f"Report:  {report}" in ended.out
    assert "quickstart-1" in report.read_text(encoding="utf-8")
    assert not list(report.parent.glob(".*.partial"))


def test_in_a_file_every_point_has_one_line(
    wirespeed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS")
    ended = wirespeed("run", "tcp-messages")
    rows = [line for line in ended.out.splitlines() if line.startswith("TCP over ")]
    assert len(rows) == 21
    assert all("Gbps" not in row and " to " in row for row in rows)


def test_a_point_that_was_not_measurable_is_a_failure_with_its_reason(
    wirespeed: Command, host: FakeHost
) -> None:
    host.misread_share = 1.0
    ended = wirespeed("run", "wire")
    assert ended.code == 1
    assert "wire, 64 B  no rate: " in ended.out
    assert "wirespeed: 1 of 1 points have no rate: wire, 64 B\n" in ended.err
    assert wirespeed("runs").code == 0


def test_a_host_without_a_quiet_moment_still_gives_a_figure(
    wirespeed: Command, host: FakeHost
) -> None:
    host.disturbed_share = 1.0
    ended = wirespeed("run", "wire")
    assert ended.code == 0
    assert "grade D" in ended.err


def test_a_point_that_the_host_cannot_do_is_refused_before_anything_runs(
    wirespeed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = FakeHost(3e6)

    def plan(spec: Frames) -> Plan:
        if spec.traffic.frame.text == "1518":
            raise BadInput("CPU 7 does not exist on testhost", "It has CPUs 0-1.")
        return PLAN

    monkeypatch.setattr(
        rig, "local_rig", lambda: Rig(FACTS, plan, host.rig.open_bench, host.open_own)
    )
    ended = wirespeed("run", "quickstart")
    assert ended.code == 2
    assert ended.err == "wirespeed: CPU 7 does not exist on testhost\nIt has CPUs 0-1.\n"
    assert not host.opened
    assert wirespeed("runs", "--json").out.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "nope"], "study 'nope': not shipped"),
        (["run", "wire", "--set", "traffic.frame=63"], "64..9216"),
        (["report", "wire-9"], "no such file, so no run yet"),
        (["run", "wire", "--store", "mysql://host/db"], "--store mysql://host/db"),
        (["compare", "a", "b", "--tolerance", "lots"], "--tolerance lots"),
        (["report", "latest", "--csv", "--json"], "both print on stdout"),
    ],
)
def test_bad_input_exits_with_2_and_says_what(
    wirespeed: Command, host: FakeHost, arguments: list[str], says: str
) -> None:
    ended = wirespeed(*arguments)
    assert ended.code == 2
    assert says in ended.err
    assert ended.out == ""
    assert not host.opened


def test_a_full_disk_outside_the_store_is_reported_in_words(
    wirespeed: Command, host: FakeHost
) -> None:
    def full(_trial: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/run/generator.ini")

    host.before_trial = full
    ended = wirespeed("run", "wire")
    assert ended.code == 1
    assert "wirespeed: /run/generator.ini: no space left on device" in ended.err
    assert host.closed == 1


def test_a_report_that_cannot_be_written_keeps_the_run(wirespeed: Command, host: FakeHost) -> None:
    Path("out").mkdir()

    def lose_folder(_trial: int) -> None:
        if Path("out").exists():
            Path("out").rmdir()

    host.before_trial = lose_folder
    ended = wirespeed("run", "wire", "--html", "out/report.html")
    assert ended.code == 2
    assert "out: there is no such folder" in ended.err
    assert wirespeed("report", "wire-1", "--csv").code == 0


def test_run_html_without_folder_is_refused_before_measuring(
    wirespeed: Command, host: FakeHost
) -> None:
    ended = wirespeed("run", "wire", "--html", "none/report.html")
    assert (ended.code, host.opened) == (2, [])
    assert "mkdir -p none" in ended.err
    assert not Path("none").exists()


def test_run_without_any_result_leaves_no_run(wirespeed: Command, host: FakeHost) -> None:
    host.before_trial = lambda _trial: (_ for _ in ()).throw(BenchError("broke"))
    ended = wirespeed("run", "wire")
    assert (ended.code, "--resume" in ended.err) == (1, False)
    assert wirespeed("runs", "--json").out.strip() == "[]"


def test_run_cut_short_hints_with_its_store_and_options(wirespeed: Command, host: FakeHost) -> None:
    def breaks(trial: int) -> None:
        if trial == 3:
            raise BenchError("broke")

    host.before_trial = breaks
    ended = wirespeed("run", "wire", "--store", "my runs.sqlite", "--json", "--html", "a.html")
    hint = "wirespeed run wire-1 --resume --store 'my runs.sqlite' --html a.html --json"
    assert hint in ended.err
    host.before_trial = lambda _trial: None
    words = shlex.split(hint)[1:]
    assert json.loads(wirespeed(*words).out)["run"]["complete"] is True
    full = wirespeed("run", "wire", "--store", "my runs.sqlite").out.splitlines()[-1]
    assert full.endswith("wirespeed explain wire-2 --store 'my runs.sqlite'")


def test_run_quiet_prints_the_table_alone(wirespeed: Command) -> None:
    ended = wirespeed("run", "wire", "-q")
    assert (ended.code, ended.err) == (0, "")
    heading, row = ended.out.splitlines()
    assert heading.startswith("point")
    assert row.startswith("wire, 64 B")


def test_run_quiet_prints_errors(wirespeed: Command) -> None:
    ended = wirespeed("run", "wire", "--quiet", "--threshold", "*: ndr >= 9e9")
    assert ended.code == 1
    assert ended.err.startswith("wirespeed: 1 of 1 thresholds are not met: wire, 64 B: ndr >= 9e9")
    assert len(ended.out.splitlines()) == 2


def test_run_quiet_and_verbose_are_refused(wirespeed: Command, host: FakeHost) -> None:
    ended = wirespeed("run", "wire", "-q", "-v")
    assert ended.code == 2
    assert "-q and -v contradict each other" in ended.err
    assert not host.opened


def test_run_verbose_explains_the_headings(wirespeed: Command) -> None:
    meaning = "NDR: highest rate without loss."
    assert meaning not in wirespeed("run", "wire").out
    assert meaning in wirespeed("run", "wire", "-v").out
