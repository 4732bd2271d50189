# SPDX-License-Identifier: Apache-2.0
"""Test that a damaged recording gives facts and an audit, or one clear error, never a traceback."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hosts.emulated import EMULATED
from tests.hosts.papers import MACHINES
from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.host.collect import collect
from wirespeed.host.reader import HostUnreadable
from wirespeed.remote.recorded import RecordedRunner
from wirespeed.remote.recording import Recording, load

HOSTS = Path(__file__).parents[2] / "hosts"
WHOLE = {name: load(HOSTS / name) for name in (*MACHINES, EMULATED)}
GARBAGE = st.sampled_from(
    ["", "\n", "-1\n", "0\n", "x\n", "0-\n", "9999\n", "[]", "{}", "\0\n", "é"]
)


def damaged(data: st.DataObject) -> Recording:
    """Return a recorded host with a few files and answers lost, cut short or replaced."""
    recording = copy.deepcopy(WHOLE[data.draw(st.sampled_from(sorted(WHOLE)))])
    paths = sorted(recording.files)
    for path in data.draw(st.lists(st.sampled_from(paths), max_size=4, unique=True)):
        text = recording.files.pop(path)
        kind = data.draw(st.sampled_from(["lost", "denied", "cut", "garbage"]))
        if kind == "denied":
            recording.denied.add(path)
        elif kind != "lost":
            cut = text[: data.draw(st.integers(0, len(text)))]
            recording.files[path] = cut if kind == "cut" else data.draw(GARBAGE)
    numbers = st.integers(0, len(recording.commands) - 1)
    for number in data.draw(st.lists(numbers, max_size=2, unique=True)):
        command = recording.commands[number]
        cut = command.stdout[: data.draw(st.integers(0, len(command.stdout)))]
        recording.commands[number] = replace(
            command,
            stdout=data.draw(st.one_of(st.just(cut), GARBAGE)),
            exit_code=data.draw(st.sampled_from([0, 0, 1])),
        )
    return recording


def _values(raw: Any) -> list[tuple[Any, int]]:
    """List every place of a JSON document whose value may change, as a list and an index in it."""
    found: list[tuple[Any, int]] = []
    for index, value in enumerate(raw if isinstance(raw, list) else []):
        found.append((raw, index))
        found += _values(value)
    return found


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_any_value_in_the_vswitchs_answers(data: st.DataObject) -> None:
    recording = copy.deepcopy(WHOLE["s3-r740xd"])
    numbers = [n for n, c in enumerate(recording.commands) if c.argv[0] == "ovs-vsctl"]
    number = data.draw(st.sampled_from(numbers))
    table = json.loads(recording.commands[number].stdout)
    place, index = data.draw(st.sampled_from(_values(table["data"])))
    place[index] = data.draw(st.sampled_from([None, 1, -1, "x", [], {}, ["set", []], ["map", []]]))
    recording.commands[number] = replace(recording.commands[number], stdout=json.dumps(table))
    try:
        facts = collect(RecordedRunner(recording))
    except HostUnreadable:
        return
    assert len(audit(Subject(facts), all_rules()).findings) >= 50


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_damage_gives_facts_or_a_clear_error(data: st.DataObject) -> None:
    try:
        facts = collect(RecordedRunner(damaged(data)))
    except HostUnreadable:
        return
    assert len(audit(Subject(facts), all_rules()).findings) >= 50
