# SPDX-License-Identifier: Apache-2.0
"""Check wirespeed audit and inspect, as a person or a CI job calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hosts.emulated import EMULATED
from tests.hosts.papers import FLAVORS, MACHINES
from tests.support import golden
from tests.unit.cli.conftest import Command, Ended
from wirespeed.host.reader import HostUnreadable
from wirespeed.remote.local import LocalRunner

ROOT = Path(__file__).parents[3]
HOSTS = ROOT / "tests" / "hosts"
S3 = str(HOSTS / "s3-r740xd")


@pytest.mark.parametrize("machine", [*MACHINES, EMULATED])
def test_the_picture_of_a_recorded_server(wirespeed: Command, machine: str) -> None:
    ended = wirespeed("inspect", "--recorded", str(HOSTS / machine))
    assert ended.code == 0
    golden.check(f"inspect/{machine}.txt", ended.out)


def test_inspect_json_is_a_host_file_that_inspect_and_audit_read(wirespeed: Command) -> None:
    text = wirespeed("inspect", "--recorded", S3, "--json").out
    Path("s3.json").write_text(text, encoding="utf-8")
    assert wirespeed("inspect", "--host", "s3.json", "--json").out == text
    both = [("--recorded", S3), ("--host", "s3.json")]
    first, second = (wirespeed("audit", *where, "--format", "json") for where in both)
    assert first == second


def test_this_machine_is_recorded_and_read_back_unchanged(wirespeed: Command) -> None:
    live = json.loads(wirespeed("inspect", "--json", "--record", "here").out)
    again = json.loads(wirespeed("inspect", "--recorded", "here", "--json").out)
    # Leftovers of killed runs are in journals of this machine, which no recording has.
    assert live.pop("left_by_killed_runs") is not None
    assert again.pop("left_by_killed_runs") is None
    assert live == again


def test_a_folder_in_use_is_not_recorded_over(wirespeed: Command) -> None:
    Path("here").mkdir()
    (Path("here") / "mine").write_text("x")
    ended = wirespeed("inspect", "--record", "here")
    assert (ended.code, "here exists and is not empty" in ended.err) == (2, True)


def test_the_table_has_the_worst_first_with_commands_in_one_line(wirespeed: Command) -> None:
    ended = wirespeed("audit", "--recorded", S3)
    assert ended.code == 0
    golden.check("audit/s3-r740xd.table.txt", ended.out)
    severities = [line.split()[0] for line in ended.out.splitlines() if line[:1].isalpha()]
    assert severities.index("high") < severities.index("medium") < severities.index("low")


def test_audit_json_is_format_json(wirespeed: Command) -> None:
    short, long = (wirespeed("audit", "--recorded", S3, *w).out
                   for w in (("--json",), ("--format", "json")))  # fmt: skip
    assert json.loads(short) == json.loads(long)


def test_all_lists_what_passed(wirespeed: Command) -> None:
    ended = wirespeed("audit", "--recorded", S3, "--all")
    assert "passed:" in ended.out
    assert "not applicable:" in ended.out


@pytest.mark.parametrize(("level", "code"), [("critical", 0), ("high", 1), ("low", 1)])
def test_fail_on(wirespeed: Command, level: str, code: int) -> None:
    assert wirespeed("audit", "--recorded", S3, "--fail-on", level).code == code


def test_suppressions_with_reasons_lift_the_failure(wirespeed: Command) -> None:
    entries = "".join(
        f'[[suppress]]\nrule = "{rule}"\nreason = "lab"\n' for rule in ("WS27", "WS36", "WS01")
    )
    Path("accepted.toml").write_text(entries)
    ended = wirespeed(
        "audit", "--recorded", S3, "--suppressions", "accepted.toml", "--fail-on", "high"
    )
    assert ended.code == 0
    assert "suppression of WS01 (lab) matches no finding" in ended.out


def test_memory_model_traffic_and_flavors_change_the_output(
    wirespeed: Command, tmp_path: Path
) -> None:
    rows = [
        {"Name": name, "VCPUs": 8, "RAM": 4096, "Properties": specs}
        for name, specs in FLAVORS["s0-compute"].items()
    ]
    path = tmp_path / "flavors.json"
    path.write_text(json.dumps(rows))
    host = str(HOSTS / "s0-compute")
    plain = failed(wirespeed("audit", "--recorded", host, "--format", "json"))
    more = failed(
        wirespeed(
            "audit", "--recorded", host, "--flavors", str(path), "--traffic", "tcp",
            "--memory-model", "ovs-shared", "--format", "json",
        )
    )  # fmt: skip
    assert more - plain == {"WS36", "WS49"}
    assert plain - more == {"WS19"}


def failed(ended: Ended) -> set[str]:
    findings = json.loads(ended.out)["findings"]
    return {finding["rule"] for finding in findings if finding["status"] == "failed"}


@pytest.mark.parametrize(
    ("form", "starts"), [("json", "{"), ("sarif", "{"), ("html", "<!DOCTYPE html>")]
)
def test_output_goes_into_a_file(wirespeed: Command, form: str, starts: str) -> None:
    ended = wirespeed("audit", "--recorded", S3, "--format", form, "--output", "out")
    assert (ended.code, ended.out) == (0, "")
    assert Path("out").read_text(encoding="utf-8").startswith(starts)


def test_explain_and_list(wirespeed: Command) -> None:
    said = wirespeed("audit", "--explain", "19").out
    assert "WS19 socket-memory-short" in said
    assert "S3: Dell and Intel" in said.replace("\n", " ")
    assert wirespeed("audit", "--list").out.count("WS") >= 50


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("audit", "--explain", "WS99"), "there is no audit rule 'WS99'"),
        (("audit", "--host", "x", "--recorded", "y"), "name two hosts"),
        (("audit", "--host", "none.json"), "No such file"),
        (("audit", "--host", "ssh://-oProxyCommand=id"), "is not a host name"),
        (("audit", "--recorded", "none"), "is not a recorded host"),
        (("audit", "--recorded", S3, "--output", "t"), "--output does not write a table"),
        (("audit", "--recorded", S3, "--plan", "none.json"), "none.json cannot be read"),
        (("audit", "--recorded", S3, "--flavors", "none.json"), "No such file"),
        (("audit", "--recorded", S3, "--suppressions", "none.toml"), "cannot be read"),
        (
            ("audit", "--recorded", S3, "--format", "json", "--output", "absent/file"),
            "cannot be written",
        ),
        (("inspect", "--host", "h.json", "--record", "d"), "there is nothing to record"),
        (("inspect", "--recorded", S3, "--record", "/proc/x"), "/proc/x cannot be made"),
        (("inspect", "--host", ""), "--host names no host"),
        (("audit", "--recorded", ""), "--recorded names no host"),
        (("audit", "--explain", ""), "there is no audit rule ''"),
        (("audit", "--host", "https://x"), "neither a file nor an ssh address"),
        (("audit", "--host", "ssh://me@127.0.0.1:1"), "`ssh ssh://me@127.0.0.1:1 true`"),
    ],
)
def test_bad_input_is_one_clear_error(
    wirespeed: Command, arguments: tuple[str, ...], told: str
) -> None:
    ended = wirespeed(*arguments)
    assert ended.code == 2
    assert told in ended.err
    assert "Traceback" not in ended.err + ended.out


def test_a_mask_wider_than_the_host_is_reported_and_the_rest_is_audited(wirespeed: Command) -> None:
    document = json.loads(wirespeed("inspect", "--recorded", S3, "--json").out)
    document["ovs"]["other_config"]["pmd-cpu-mask"] = "0xf000000000000000000000"
    document["nova"]["dedicated_cpus"] = [3, 4, 99]
    Path("host.json").write_text(json.dumps(document))
    ended = wirespeed("audit", "--host", "host.json")
    assert ended.code == 2
    said = " ".join(ended.out.split())
    assert "names 84-87, the host has 0-71" in said
    assert "cpu_dedicated_set names 99, the host has 0-71" in said
    assert "WS27" in said


def test_a_host_that_makes_no_sense_is_refused_without_a_traceback(
    wirespeed: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def senseless(_: LocalRunner) -> None:
        raise HostUnreadable("box", ["/sys/a: 'x' is no number", "/sys/b: empty"])

    monkeypatch.setattr("wirespeed.cli.input.host_source.collect", senseless)
    ended = wirespeed("inspect")
    assert ended.code == 2
    assert "box" in ended.err
    assert "/sys/a" in ended.err
    assert "/sys/b" in ended.err
