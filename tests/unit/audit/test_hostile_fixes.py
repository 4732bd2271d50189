# SPDX-License-Identifier: Apache-2.0
"""Test that no text of a host or a plan runs as code in the commands that findings advise.

The texts bypass the types, which would reject them. A restricted shell executes the commands: it
expands every word and opens no file for writing.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.hostile import MARKER, PAYLOADS, Judge, leaves, planted
from tests.unit.audit.case import Case
from tests.unit.audit.faults import FAULTS
from wirespeed.audit.engine import run_rule
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.model.host.finding import Finding

RULES = {rule.id: rule for rule in all_rules()}
HOSTILE = PAYLOADS if os.environ.get("WIRESPEED_EXHAUSTIVE") == "1" else PAYLOADS[:3]


def hostile(subject: Subject) -> Iterator[Subject]:
    """Yield the subject with each payload in each text of the host and the plan."""
    for name in ("facts", "plan"):
        value = getattr(subject, name)
        for place in leaves(value):
            for text in HOSTILE:
                yield replace(subject, **{name: planted(value, place, text)})


def advised(case: Case) -> Iterator[Finding]:
    for subject in hostile(case.subject):
        try:
            yield from run_rule(RULES[case.rule], subject)
        except Exception:  # noqa: S112 (types keep such a text out; commands are judged here)
            continue


@pytest.mark.parametrize("rule", RULES)
def test_commands_of_a_fix_with_hostile_texts_run_nothing(rule: str, tmp_path: Path) -> None:
    judge = Judge(tmp_path)
    usual = {line for case in FAULTS for f in run_rule(RULES[case.rule], case.subject)
             for line in f.fix}  # fmt: skip
    found = {line: None for case in FAULTS if case.rule == rule
             for finding in advised(case) for line in finding.fix}  # fmt: skip
    for line in found.keys() - usual:
        assert "\n" not in line, line
    judge.commands(found.keys() - usual)


def test_judge_of_commands_that_are_not_quoted_fails(tmp_path: Path) -> None:
    for line in (f"virsh x; {MARKER}", f"echo 1 > /sys/$({MARKER})/x", f'a "`{MARKER}`"'):
        with pytest.raises(AssertionError, match="ran"):
            Judge(tmp_path / str(hash(line))).commands([line])
    with pytest.raises(AssertionError, match="syntax"):
        Judge(tmp_path / "syntax").commands(["echo 'x"])


def test_restricted_shell_opens_no_file(tmp_path: Path) -> None:
    Judge(tmp_path / "judge").commands([f"echo 1 > {tmp_path}/written"])
    assert not (tmp_path / "written").exists()
    assert subprocess.run(["/bin/bash", "-rc", "true"], check=False).returncode == 0
