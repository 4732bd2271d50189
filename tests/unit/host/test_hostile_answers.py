# SPDX-License-Identifier: Apache-2.0
"""Test that the files, names and answers of a hostile host never run as code.

Each text of a recorded host is replaced, one after another and all at once. The host is collected,
audited, planned, rendered and shown. A WirespeedError is also right where it is short and on lines
of its own.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.hosts.emulated import EMULATED
from tests.support.document_fuzz import check_texts, planned
from tests.support.effort import EXHAUSTIVE
from tests.support.examples import example_text
from tests.support.hostile import MARKER, Judge
from tests.unit.cli.hostile import raw
from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.cli.console import plain_console, print_line
from wirespeed.cli.show.audit_tables import print_report
from wirespeed.cli.show.host_picture import print_host
from wirespeed.host.collect import collect
from wirespeed.model.errors import WirespeedError
from wirespeed.model.host.facts import HostFacts
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload
from wirespeed.remote.recorded import RecordedRunner
from wirespeed.remote.recording import RecordedCommand, Recording, load

HOSTS = Path(__file__).parents[2] / "hosts"
EXAMPLES = {"s3-r740xd": "s3-jumbo", "s2-r730": "s2-chains"}
MACHINES = ("s3-r740xd", "s2-r730", "s0-compute", EMULATED) if EXHAUSTIVE else ("s3-r740xd",)
PAYLOADS = {
    "substitution": f"$({MARKER})",
    "backticks": f"`{MARKER}`",
    "template": f"{{{{ lookup('pipe', '{MARKER}') }}}}",
    "lines": f"x\n{MARKER}\n",
    "escape": f"x\x1b[2J{MARKER}",
    "nul": f"\x00{MARKER}",
    "megabyte": MARKER + "x" * (1 << 20),
    "many-lines": f"{MARKER}\n" * 20_000,
    "digits": "1" * 5000,
    "ranges": "0-65535\n" * 20_000,
}
# Longest readable error or list of unknown facts, in characters.
READABLE = 10_000
# A line break that a payload brought. A table folds a long word, which then continues behind the
# marker.
BROKEN = re.compile(rf"^\s*{MARKER}(?![\\\w])", re.MULTILINE)
_NUMBERS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]|\d+")
Change = Callable[[Recording, str], None]


def a_file(path: str) -> Change:
    return lambda recording, text: recording.files.update({path: text})


def a_command(number: int) -> Change:
    return lambda recording, text: _answer(recording, number, stdout=text)


def a_failure(number: int) -> Change:
    return lambda recording, text: _answer(recording, number, stdout="", stderr=text, exit_code=1)


def _answer(recording: Recording, number: int, **answer: object) -> None:
    recording.commands[number] = replace(recording.commands[number], **answer)  # type: ignore[arg-type]


def values_of(number: int) -> Change:
    """Replace each text in a command's JSON, or in its quotes and between its tags."""

    def change(recording: Recording, text: str) -> None:
        printed = recording.commands[number].stdout
        if printed.startswith("{"):
            inside = json.dumps(text)[1:-1]
            table = json.loads(printed)
            data = json.dumps(table["data"]).replace('""', f'"{inside}"')
            table["data"] = json.loads(
                re.sub(r'(?<=: ")[^"]+|(?<=, ")[^"]+', lambda _: inside, data)
            )
            printed = json.dumps(table)
        else:
            printed = re.sub(r"(?<==')[^']*(?=')|(?<=\w>)[^<\n]+(?=</)", lambda _: text, printed)
        _answer(recording, number, stdout=printed)

    return change


def a_name(path: str) -> Change:
    """Replace the last number in a path, as far as the payload can be part of a name."""

    def change(recording: Recording, text: str) -> None:
        word = text[:200].replace("/", "_")
        head, _, tail = path.rpartition(_NUMBERS.findall(path)[-1])
        if path in recording.files:
            recording.files[f"{head}1{word}{tail}"] = recording.files.pop(path)
        else:
            recording.names.add(f"{head}1{word}{tail}")

    return change


def everything(recording: Recording, text: str) -> None:
    recording.files = dict.fromkeys(recording.files, text)
    recording.commands = [replace(each, stdout=text) for each in recording.commands]


def changes(recording: Recording) -> Iterator[tuple[str, Change]]:
    """Yield one change per file, name and command; those that differ in a number count once."""
    kinds = {_NUMBERS.sub("#", path): path for path in (*recording.files, *recording.names)}
    for path in kinds.values():
        if path in recording.files:
            yield path, a_file(path)
        if _NUMBERS.search(path):
            yield f"name of {path}", a_name(path)
    commands: dict[str, int] = {}
    for number, each in enumerate(recording.commands):
        commands.setdefault(_kind(each), number)
    for number in commands.values():
        name = " ".join(recording.commands[number].argv)
        yield name, a_command(number)
        yield f"stderr of {name}", a_failure(number)
        yield f"values of {name}", values_of(number)


def _kind(command: RecordedCommand) -> str:
    words = [word for word in command.argv if word not in ("-r", "--domain")]
    return " ".join(words[:4] if words[0] == "virsh" else words)


def attacked(recording: Recording, change: Change, text: str) -> RecordedRunner:
    """Return the recorded host with that change."""
    return RecordedRunner(changed(recording, change, text))


def changed(recording: Recording, change: Change, text: str) -> Recording:
    """Return a copy of the recording with that change."""
    other = copy.copy(recording)
    other.files, other.names = dict(recording.files), set(recording.names)
    other.commands = list(recording.commands)
    change(other, text)
    return other


def outcome(host: RecordedRunner) -> HostFacts | WirespeedError:
    """Return the host's facts, or the error that rejects them."""
    try:
        return collect(host)
    except WirespeedError as refusal:
        return refusal


def shown(facts: HostFacts | WirespeedError) -> None:
    """Print the output of `inspect` and `audit`."""
    if isinstance(facts, WirespeedError):
        print_line(str(facts))
        return
    print_host(facts, plain_console(width=200))
    print_report(audit(Subject(facts), all_rules()), plain_console(width=200), everything=True)


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("machine", MACHINES)
def test_collect_hostile_answers_stay_values(
    machine: str, payload: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording, text = load(HOSTS / machine), PAYLOADS[payload]
    workload = parse_workload(example_text(EXAMPLES.get(machine, "s2-chains")), "workload")
    judge, files = Judge(tmp_path), 0
    every = list(changes(recording))
    # The short form tests each change with two payloads.
    step = 1 if EXHAUSTIVE else len(PAYLOADS) // 2
    first = list(PAYLOADS).index(payload) % step
    for name, change in [*every[first::step], ("everything", everything)]:
        facts = outcome(attacked(recording, change, text))
        shown(facts)
        if isinstance(facts, HostFacts):
            check_texts(facts, (), name)
            assert len(str(facts.missing)) < READABLE, name
            for file, written in planned(partial(plan_workload, workload, [facts])).items():
                files += 1
                judge.check(file, written)
        else:
            assert len(str(facts)) < READABLE, name
        printed = capsys.readouterr().out
        assert raw(printed) == "", name
        assert not BROKEN.search(printed), name
    print(f"{machine}: {len(every[first::step]) + 1} changes, {files} files, {judge.runs} scripts")
