# SPDX-License-Identifier: Apache-2.0
"""Check that every verb ends with the exit codes of docs/reference/exit-codes.md."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from tests.support.waiting import asleep, until
from tests.unit.cli.conftest import Command, Ended
from tests.unit.cli.every_verb import every_command
from wirespeed.cli.command_kinds import LazyVerb

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "exit-codes.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "s2-chains"
HOST, PLAN, WORKLOAD = (str(EXAMPLE / name) for name in ("host.json", "plan.json", "workload.toml"))
CSV = str(ROOT / "src" / "wirespeed" / "published" / "data" / "s2.csv")
COMMANDS = every_command()
VERBS = {path: one for path, one in COMMANDS.items() if not getattr(one, "commands", {})}
BY_WORDS = pytest.mark.parametrize("path", VERBS, ids=" ".join)


def check_error(ended: Ended, code: int) -> None:
    """Check for that code and at least two lines: the problem, and the next step."""
    assert ended.code == code, ended.err
    assert ended.out == ""
    what, *steps = ended.err.rstrip("\n").splitlines()
    assert what.startswith("wirespeed")
    assert steps, "no next step"
    for word in ("Traceback", "Value error", "Input should", "pydantic", "errors.pydantic.dev"):
        assert word not in ended.err


def test_page_names_every_verb() -> None:
    assert set(re.findall(r"^\| `([a-z -]+)` \|", PAGE, re.MULTILINE)) == set(map(" ".join, VERBS))


def test_page_is_linked_from_the_verbs_page() -> None:
    assert "(exit-codes.md)" in (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: " ".join(path) or "wirespeed")
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_ends_with_0(wirespeed: Command, path: tuple[str, ...], option: str) -> None:
    ended = wirespeed(*path, option)
    assert (ended.code, ended.err) == (0, "")
    assert "Usage: wirespeed" in ended.out
    assert "<bool>" not in ended.out


@BY_WORDS
def test_unknown_option_ends_with_2(wirespeed: Command, path: tuple[str, ...]) -> None:
    check_error(wirespeed(*path, "--no-such-option"), 2)


@BY_WORDS
def test_missing_word_ends_with_2(wirespeed: Command, path: tuple[str, ...]) -> None:
    if any(parameter.required for parameter in VERBS[path].params):
        check_error(wirespeed(*path), 2)


@BY_WORDS
def test_word_too_many_ends_with_2(wirespeed: Command, path: tuple[str, ...]) -> None:
    arguments = [p for p in VERBS[path].params if p.param_type_name == "argument"]
    if all(argument.nargs == 1 for argument in arguments):
        check_error(wirespeed(*path, *["x"] * len(arguments), "x"), 2)


# Each way to name an input file; a new one must be added here.
READS = {
    ("inspect", "--host"): ["inspect", "--host", "FILE"],
    ("inspect", "--recorded"): ["inspect", "--recorded", "FILE"],
    ("inspect", "--from"): ["inspect", "--from", "FILE"],
    ("inspect", "--openstack"): ["inspect", "--openstack", "FILE"],
    ("audit", "--host"): ["audit", "--host", "FILE"],
    ("audit", "--recorded"): ["audit", "--recorded", "FILE"],
    ("audit", "--from"): ["audit", "--from", "FILE"],
    ("audit", "--kubelet"): ["audit", "--host", HOST, "--kubelet", "FILE"],
    ("audit", "--qualification"): ["audit", "--host", HOST, "--qualification", "FILE"],
    ("audit", "--plan"): ["audit", "--host", HOST, "--plan", "FILE"],
    ("audit", "--flavors"): ["audit", "--host", HOST, "--flavors", "FILE"],
    ("audit", "--suppressions"): ["audit", "--host", HOST, "--suppressions", "FILE"],
    ("apply", "PLAN"): ["apply", "FILE", "--host", "localhost", "--dry-run"],
    ("verify", "PLAN"): ["verify", "FILE", "--host", "localhost"],
    ("run", "STUDY"): ["run", "FILE"],
    ("run", "--lab"): ["run", "quickstart", "--lab", "FILE", "--set", "hosts.sut=a"],
    ("report", "--params"): ["report", "latest", "--params", "FILE"],
    ("plan make", "WORKLOAD"): ["plan", "FILE", "--host", HOST],
    ("plan make", "--host"): ["plan", WORKLOAD, "--host", "FILE"],
    ("plan make", "--recorded"): ["plan", WORKLOAD, "--recorded", "FILE"],
    ("plan make", "--openstack"): ["plan", WORKLOAD, "--host", HOST, "--openstack", "FILE"],
    ("plan make", "--cycles"): ["plan", WORKLOAD, "--host", HOST, "--cycles", "FILE"],
    ("plan make", "--params"): ["plan", WORKLOAD, "--host", HOST, "--params", "FILE"],
    ("plan show", "PLAN"): ["plan", "show", "FILE"],
    ("plan diff", "[OLD] NEW"): ["plan", "diff", PLAN, "FILE"],
    ("plan diff", "--openstack"): ["plan", "diff", PLAN, "--openstack", "FILE"],
    ("plan diff", "--kubernetes"): ["plan", "diff", PLAN, "--kubernetes", "FILE"],
    ("plan render", "PLAN"): ["plan", "render", "FILE", "-o", "out"],
    ("study show", "STUDY"): ["study", "show", "FILE"],
    ("fleet snapshot", "--host"): ["fleet", "snapshot", "--host", "FILE"],
    ("fleet snapshot", "--recorded"): ["fleet", "snapshot", "--recorded", "FILE"],
    ("fleet pairs add", "PAIRS.toml"): ["fleet", "pairs", "add", "FILE"],
    ("predict rate", "STUDY|PLAN"): ["predict", "FILE"],
    ("predict rate", "--params"): ["predict", "wire", "--params", "FILE"],
    ("predict fit", "RUN...|CSV"): ["predict", "fit", "FILE"],
    ("predict fit", "--params"): ["predict", "fit", CSV, "--params", "FILE"],
    ("predict ask", "--params"): ["predict", "ask", "--params", "FILE"],
    ("bng curve", "FILE"): ["bng", "curve", "FILE"],
    ("kpi record", "--host"): ["kpi", "record", "--host", "FILE", "--for", "1s"],
    ("kpi exporter", "--plan"): ["kpi", "exporter", "--plan", "FILE"],
    ("live", "RECORDING|RUN|FILE"): ["live", "FILE"],
    ("tune", "STUDY"): ["tune", "FILE"],
    ("tune", "--factors"): ["tune", "quickstart", "--point", "p2p, 64 B", "--factors", "FILE"],
    ("tune", "--lab"): ["tune", "quickstart", "--point", "p2p, 64 B", "--lab", "FILE"],
}
# `fleet add` goes on after a file that it cannot use, and `explain --lab` needs a run first.
ELSEWHERE = {("fleet add", "PATH..."), ("fleet add", "--members"), ("explain", "--lab")}
# Files and folders that are written.
WRITES = {"--output", "--html", "--junit", "--svg", "--record", "--csv", "--openmetrics"}


def test_every_file_that_a_verb_reads_is_in_the_table() -> None:
    named = set()
    for path, command in VERBS.items():
        for each in command.params:
            option = each.param_type_name == "option"
            name = each.opts[0] if option else each.metavar
            hosts = option and name in ("--host", "--recorded", "--openstack")
            changed = path[0] in ("apply", "verify", "rollback", "bng", "tune")
            is_file = "Path" in str(each.type_descriptor.annotation) or (hosts and not changed)
            words = not option and name in (
                "STUDY", "STUDY|PLAN", "RUN...|CSV", "RECORDING|RUN|FILE",
            )  # fmt: skip
            if (is_file or words) and name not in WRITES:
                named.add((" ".join(path), name))
    assert named == READS.keys() | ELSEWHERE


def missing(_path: Path) -> None: ...
def folder(path: Path) -> None:
    path.mkdir()


def text(path: Path) -> None:
    path.write_text("neither JSON nor TOML nor CSV\n" * 3)


def empty_object(path: Path) -> None:
    path.write_text("[1, 2]\n" if path.suffix == ".json" else "no_such_key = 1\n")


def binary(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00\x80" * 9)


def unreadable(path: Path) -> None:
    """Make a file that nobody can read, not even root: a link to itself."""
    path.symlink_to(path)


SUFFIX = {"STUDY": ".toml", "RUN...|CSV": ".csv", "RECORDING|RUN|FILE": ".html"}


@pytest.mark.parametrize("name", READS, ids=" ".join)
@pytest.mark.parametrize("made", [missing, folder, text, empty_object, binary, unreadable])
def test_file_that_cannot_be_used_ends_with_2(
    wirespeed: Command, tmp_path: Path, name: tuple[str, str], made: Callable[[Path], None]
) -> None:
    file = f"named{SUFFIX.get(name[1], '.json')}"
    if name == ("report", "--params"):
        assert wirespeed("run", "wire").code == 0
    made(tmp_path / file)
    ended = wirespeed(*(word.replace("FILE", file) for word in READS[name]))
    check_error(ended, 2)
    assert "named" in ended.err


@pytest.mark.parametrize("made", [missing, text, binary, unreadable])
def test_fleet_add_file_that_cannot_be_used_ends_with_1(
    wirespeed: Command, tmp_path: Path, made: Callable[[Path], None]
) -> None:
    made(tmp_path / "named.json")
    ended = wirespeed("fleet", "add", "named.json")
    assert (ended.code, ended.out) == (1, "0 added, 0 known already, 1 not usable\n")
    assert "named.json" in ended.err


@pytest.mark.parametrize(
    "words",
    [
        ["plan", WORKLOAD, "--host", HOST, "-o", "OUT"],
        ["audit", "--host", HOST, "--json", "-o", "OUT"],
        ["predict", "fit", CSV, "-o", "OUT"],
        ["bng", "tables", "--users", "1", "-o", "OUT"],
        ["router", "table", "--ipv4", "1", "--ipv6", "1", "-o", "OUT"],
        ["fleet", "snapshot", "--host", HOST, "-o", "OUT"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
@pytest.mark.parametrize("out", [".", "file/file"])
def test_output_that_cannot_be_written_ends_with_2(
    wirespeed: Command, tmp_path: Path, words: list[str], out: str
) -> None:
    (tmp_path / "file").write_text("")
    check_error(wirespeed(*(word.replace("OUT", out) for word in words)), 2)


def words_for(command: Any) -> list[str]:
    """Return arguments with which the command is accepted."""
    found: list[str] = []
    for each in command.params:
        if each.required:
            found += ["x"] if each.param_type_name == "argument" else [each.opts[0], "x"]
    return found


@BY_WORDS
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_every_verb_with_128_and_its_number(
    wirespeed: Command,
    monkeypatch: pytest.MonkeyPatch,
    path: tuple[str, ...],
    number: signal.Signals,
) -> None:
    def interrupted(**_options: object) -> None:
        signal.raise_signal(number)

    command = VERBS[path]
    monkeypatch.setattr(command, "callback", interrupted)
    monkeypatch.setattr(LazyVerb, "load", lambda _: command)
    ended = wirespeed(*path, *words_for(command))
    assert (ended.code, ended.out) == (128 + number, "")
    assert ended.err == f"wirespeed: ended by {number.name}; all changes to this host are undone\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_program_that_waits_for_its_input_ends_by_a_real_signal(
    tmp_path: Path, number: signal.Signals
) -> None:
    os.mkfifo(tmp_path / "host.json")
    process = subprocess.Popen(
        [sys.executable, "-m", "wirespeed.cli.main", "inspect", "--host", "host.json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    try:
        with closing(writing(tmp_path / "host.json", process)):
            until(lambda: asleep(process.pid), "the program reads")
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out) == (128 + number, "")
    assert f"ended by {number.name}" in err


def writing(pipe: Path, reader: subprocess.Popen[str]) -> BinaryIO:
    """Return the end for writing, as soon as the reader has opened the other one."""

    def opened() -> BinaryIO | None:
        assert reader.poll() is None, reader.communicate()
        try:
            return os.fdopen(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK), "wb")
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return None

    end = until(opened, f"{pipe} is read")
    assert end
    return end


PRINTING = pytest.mark.parametrize(
    "words", ["--version", "--help", "run -h", "study list", "bng tables"]
)
# Buffer stdout as a user's is, whatever the environment of the tests says.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@PRINTING
def test_output_reader_already_gone_ends_with_141(words: str) -> None:
    theirs, ours = os.pipe()
    os.close(theirs)
    argv = [sys.executable, "-m", "wirespeed.cli.main", *words.split()]
    ended = subprocess.run(argv, stdout=ours, stderr=subprocess.PIPE, env=BUFFERED, check=False)
    os.close(ours)
    assert (ended.stderr, ended.returncode) == (b"", 141)


@PRINTING
def test_output_full_disk_ends_with_1(words: str) -> None:
    argv = [sys.executable, "-m", "wirespeed.cli.main", *words.split()]
    with open("/dev/full", "w", encoding="utf-8") as full:
        ended = subprocess.run(
            argv, stdout=full, stderr=subprocess.PIPE, env=BUFFERED, text=True, check=False
        )
    said = "wirespeed: no space left on device\nFree some space and run it again.\n"
    assert (ended.stderr, ended.returncode) == (said, 1)


def test_internal_error_ends_with_70(wirespeed: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wirespeed.cli.verbs.inspect.read_facts", lambda *_: json.loads("{"))
    assert wirespeed("inspect").code == 70
