# SPDX-License-Identifier: Apache-2.0
"""No text of a document runs or becomes a second value, at the border and past it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError

from tests.document.test_kind import KINDS
from tests.plan.render.hostile import MARKER, PAYLOADS, Judge, leaves, planted
from wirespeed.document.kind import DocumentKind
from wirespeed.model.errors import BadInput
from wirespeed.model.plan import Plan
from wirespeed.model.text import PROSE
from wirespeed.plan.plan_file import PLAN_FILE
from wirespeed.plan.render.escape import RenderError
from wirespeed.plan.render.interface import environment
from wirespeed.plan.render.targets import TARGETS

ROOT = Path(__file__).parents[3]
EXAMPLES = ("s0-speedtest", "s1-bng", "s2-chains", "s3-jumbo")
EVERY = os.environ.get("WIRESPEED_EXHAUSTIVE") == "1"


def the_plan(example: str) -> Plan:
    path = ROOT / "examples" / example / "plan.json"
    return PLAN_FILE.parse(path.read_text(encoding="utf-8"), str(path))


def one_each(found: Any) -> list[tuple[Any, ...]]:
    """One leaf of each place that differs in more than an index or key; every one if exhaustive."""
    if EVERY:
        return list(found)
    kept = {tuple(str(s) for s in path if not isinstance(s, int)): path for path in found}
    return list(kept.values())


# A name that refers to nothing: the border refuses a plan file that has one.
DANGLING = (RenderError, StopIteration, KeyError, UndefinedError)


def rendered(
    plan: Plan, refusals: tuple[type[Exception], ...] = (RenderError,)
) -> tuple[dict[str, str], int]:
    """What the targets render that take the plan, and how many refuse it."""
    files: dict[str, str] = {}
    refused = 0
    for renderer in TARGETS.values():
        try:
            files |= renderer(plan)
        except refusals:
            refused += 1
    return files, refused


def judge_plan(
    judge: Judge, plan: Plan, usual: dict[str, str], counts: Counter[str],
    refusals: tuple[type[Exception], ...] = (RenderError,),
) -> None:  # fmt: skip
    files, refused = rendered(plan, refusals)
    counts["renders"] += len(TARGETS) - refused
    counts["refused"] += refused
    for name, text in files.items():
        if MARKER in text and text != usual.get(name):
            judge.check(name, text)


@pytest.mark.parametrize("example", EXAMPLES)
def test_templates_hostile_texts_past_the_types_stay_values(example: str, tmp_path: Path) -> None:
    plan, judge, counts = the_plan(example), Judge(tmp_path), Counter[str]()
    usual, _ = rendered(plan)
    for path in one_each(leaves(plan)):
        for payload in PAYLOADS:
            if path[-2:] == ("host",) or (path[0] == "hosts" and path[-1] in ("host", "name")):
                continue  # File names: types alone keep these, as the next test shows.
            judge_plan(judge, planted(plan, path, payload), usual, counts, DANGLING)
    print(f"{example}: {counts}, {judge.runs} executions, 0 hits")
    assert counts["renders"]
    assert judge.runs


@pytest.mark.parametrize("example", EXAMPLES)
def test_plan_file_hostile_texts_are_refused_or_stay_values(example: str, tmp_path: Path) -> None:
    document = json.loads((ROOT / "examples" / example / "plan.json").read_text(encoding="utf-8"))
    judge, counts = Judge(tmp_path), Counter[str]()
    usual, _ = rendered(the_plan(example))
    for path in one_each(leaves(document)):
        for payload in PAYLOADS:
            counts["tried"] += 1
            try:
                plan = PLAN_FILE.parse(json.dumps(planted(document, path, payload)), "p.json")
            except BadInput:
                continue
            counts["accepted"] += 1
            judge_plan(judge, plan, usual, counts)
    print(f"{example}: {counts}, {judge.runs} executions, 0 hits")
    assert 0 < counts["accepted"] < counts["tried"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_text_of_every_kind_has_a_form(kind: DocumentKind[Any]) -> None:
    """Free texts are Lines: a schema with a text without a pattern would take a control character.
    Enumerations, and `schema_version`, have values or a pattern of their own."""

    def bare(node: Any, where: str) -> list[str]:
        if isinstance(node, list):
            return [f for i, item in enumerate(node) for f in bare(item, f"{where}.{i}")]
        if not isinstance(node, dict):
            return []
        if node.get("type") == "string" and not node.keys() & {"pattern", "enum", "const"}:
            return [where]
        return [f for key, item in node.items() for f in bare(item, f"{where}.{key}")]

    assert bare(kind.json_schema(), kind.name) == []
    assert PROSE.fits("two\nlines")
    assert not PROSE.fits("\x1b[2J")


@pytest.mark.parametrize(
    ("template", "source"),
    [
        ("x.sh.j2", "# {{ name }}\n"),
        ("x.sh.j2", 'echo "{{ name }}"\n'),
        ("x.sh.j2", "echo {{ name | comment }}\n"),
        ("x.sh.j2", "echo {{ name | safe }}\n"),
        ("x.conf.j2", "[a]\n# {{ name }}\n"),
        ("x.yaml.j2", 'a: "{{ name }}"\n'),
        ("x.yml.j2", "a: {{ name | comment }}\n"),
        ("x.xml.j2", "<!-- {{ name }} -->\n"),
        ("x.xml.j2", "{% autoescape false %}{{ name }}{% endautoescape %}\n"),
    ],
)
def test_lint_of_templates_raw_value_is_a_fault(template: str, source: str) -> None:
    spec = importlib.util.spec_from_file_location("lint", ROOT / "setup" / "check_templates.py")
    assert spec
    assert spec.loader
    lint = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lint)
    assert list(lint.faults_of(template, source))


def test_ansible_template_in_host_vars_is_a_text(tmp_path: Path) -> None:
    text = f"{{{{ lookup('pipe', 'touch {tmp_path}/ran') }}}}"
    host_vars = tmp_path / "host_vars" / "n1.yml"
    host_vars.parent.mkdir()
    inventory = tmp_path / "inventory.yml"
    inventory.write_text("all:\n  hosts:\n    n1: {ansible_connection: local}\n", encoding="utf-8")
    line = environment("Ansible").from_string("wirespeed_kernel_line: {{ line }}\n")
    host_vars.write_text(line.render(line=text), encoding="utf-8")
    ansible = Path(sys.executable).parent / "ansible"
    command = [str(ansible), "n1", "-i", str(inventory), "-m", "debug"]
    done = subprocess.run(
        [*command, "-a", "var=wirespeed_kernel_line"], env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "lookup('pipe'" in done.stdout
    assert not (tmp_path / "ran").exists()
