# SPDX-License-Identifier: Apache-2.0
"""Check that `wirespeed plan` reads, plans, shows, compares and renders, and reports bad input."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from tests.support.examples import ROOT
from wirespeed.cli.main import main
from wirespeed.cli.show.rendered_files import LIST

EXAMPLE = ROOT / "examples" / "s3-jumbo"


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def wirespeed(*argv: object) -> subprocess.CompletedProcess[str]:
    """Run `wirespeed plan ARGV` in this process."""
    words = ["wirespeed", "plan", *map(str, argv)]
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setenv("COLUMNS", "200")
        patch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as end:
            main()
    code = int(end.value.code or 0)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def in_a_process(*argv: object) -> subprocess.CompletedProcess[str]:
    """Run the installed `wirespeed plan ARGV`."""
    program = Path(sys.executable).with_name("wirespeed")
    return subprocess.run(
        [str(program), "plan", *map(str, argv)],
        capture_output=True, text=True, check=False,
        # Use the sources of this tree, whichever tree the program was installed from.
        env={"COLUMNS": "200", "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip


def test_a_plan_is_drawn_and_written(tmp_path: Path) -> None:
    written = tmp_path / "plan.json"
    done = in_a_process(EXAMPLE / "workload.toml", "--host", EXAMPLE / "host.json", "-o", written)
    assert done.returncode == 0, done.stderr
    assert "mask 0x100601004100601004" in done.stdout
    assert written.read_text() == (EXAMPLE / "plan.json").read_text()


def test_a_recorded_host_gives_the_same_plan() -> None:
    recorded = ROOT / "tests" / "hosts" / "s3-r740xd"
    done = wirespeed(EXAMPLE / "workload.toml", "--recorded", recorded, "--json")
    assert done.stdout == (EXAMPLE / "plan.json").read_text()


def test_diff(tmp_path: Path) -> None:
    text = (EXAMPLE / "workload.toml").read_text().replace("count = 164", "count = 128")
    (tmp_path / "w.toml").write_text(text)
    new = tmp_path / "new.json"
    wirespeed(tmp_path / "w.toml", "--host", EXAMPLE / "host.json", "-o", new)
    done = wirespeed("diff", EXAMPLE / "plan.json", new)
    assert "Reboot: s3-r740xd." in done.stdout
    listed = json.loads(wirespeed("diff", EXAMPLE / "plan.json", new, "--json").stdout)
    assert [(d["what"], d["effort"]) for d in listed] == [("kernel hugepages (1G)", "reboot")]
    assert "The plans are the same." in wirespeed("diff", new, new).stdout


def test_render_writes_files_and_makes_scripts_executable(tmp_path: Path) -> None:
    done = wirespeed("render", EXAMPLE / "plan.json", "--to", "ovs", "-o", tmp_path / "out")
    assert done.returncode == 0
    script = tmp_path / "out" / "ovs" / "s3-r740xd.sh"
    assert script.stat().st_mode & 0o111
    assert {p.name for p in (tmp_path / "out").iterdir()} == {LIST, "ovs"}
    assert done.stdout == f"1 file in {tmp_path / 'out'}\n"
    assert done.stderr == ""


def test_guests_that_fit_nowhere_end_with_1(tmp_path: Path) -> None:
    text = (EXAMPLE / "workload.toml").read_text().replace("vcpus = 4", "vcpus = 64")
    (tmp_path / "w.toml").write_text(text)
    plan = tmp_path / "plan.json"
    done = wirespeed(tmp_path / "w.toml", "--host", EXAMPLE / "host.json", "-o", plan)
    assert done.returncode == 1
    assert "2 guests fit nowhere: spirent-1, spirent-2" in done.stderr
    assert "free dedicated CPUs: needs 65 (one for emulator threads), has 26" in done.stdout
    rendered = wirespeed("render", plan, "-o", tmp_path / "out")
    assert rendered.returncode == 0
    assert "note: 2 guests fit nowhere: spirent-1, spirent-2; no file" in rendered.stderr


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["absent.toml"], "absent.toml cannot be read: No such file"),
        ([EXAMPLE / "workload.toml", "--host", EXAMPLE / "plan.json"], "plan.json"),
        ([EXAMPLE / "host.json", "--host", EXAMPLE / "host.json"], "not TOML"),
        (["show", EXAMPLE / "host.json"], "host.json"),
        (["show", EXAMPLE / "workload.toml"], "is not JSON"),
        (
            ["render", EXAMPLE / "plan.json", "--to", "puppet", "-o", "x"],
            "no target to render",
        ),
        ([EXAMPLE / "workload.toml", "--recorded", ROOT / "examples"], "examples"),
    ],
)
def test_bad_input_ends_with_2_and_words(argv: list[object], expected: str) -> None:
    done = wirespeed(*argv)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_all_bad_hosts_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text('{"schema_version": "9.0"}')
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe")
    hosts = ("--host", tmp_path / "old.json", "--host", EXAMPLE / "host.json")
    more = ("--host", tmp_path / "binary.json", "--recorded", tmp_path / "none")
    done = wirespeed(EXAMPLE / "workload.toml", *hosts, *more)
    assert done.returncode == 2
    assert "3 of 4 hosts cannot be used" in done.stderr
    assert 'old.json has schema_version "9.0"; this wirespeed reads 1.x' in done.stderr
    assert "binary.json cannot be read: it is not UTF-8 text" in done.stderr
    assert "none is not a recorded host" in done.stderr


def test_an_untrusted_plan_writes_nothing_outside_the_folder(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    text = (EXAMPLE / "plan.json").read_text()
    plan.write_text(text.replace('"host": "s3-r740xd"', '"host": "../../../out"'))
    done = wirespeed("render", plan, "-o", tmp_path / "a" / "b")
    assert done.returncode == 2
    assert "hosts.0.host" in done.stderr
    assert list(tmp_path.iterdir()) == [plan]


def test_show_why_lists_every_reason_below_its_owner() -> None:
    shown = wirespeed("show", EXAMPLE / "plan.json", "--why").stdout
    host, _, rest = shown.partition("host s3-r740xd, guest spirent-1\n")
    assert host.startswith("host s3-r740xd\n  huge_pages  node 0: 82 x 1048576 KiB")
    assert "  vswitch.socket_memory_mib  11264,1024\n      model s3-per-port" in host
    assert "  cores.isolated  2-35,38-71\n      all CPUs but" in host
    assert "  ports[east].queues  4\n      multiqueue: Nova gives" in rest
    assert "flavor spirent\n" in rest
    decided = (EXAMPLE / "plan.json").read_text().count('"because"')
    assert len(re.findall(r"^ {2}\S", shown, re.MULTILINE)) == decided


def test_the_legend_names_what_is_drawn() -> None:
    shown = wirespeed("show", EXAMPLE / "plan.json").stdout
    assert "h housekeeping, P PMD, G guest, E emulator threads, g for guests, free\n" in shown


def test_one_guest_is_one_guest(tmp_path: Path) -> None:
    text = (EXAMPLE / "workload.toml").read_text().replace("vcpus = 4", "vcpus = 64")
    (tmp_path / "w.toml").write_text(text.replace("count = 2", "count = 1"))
    done = wirespeed(tmp_path / "w.toml", "--host", EXAMPLE / "host.json")
    assert "wirespeed: 1 guest fits nowhere: spirent\n" in done.stderr
