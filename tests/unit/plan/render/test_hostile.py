# SPDX-License-Identifier: Apache-2.0
"""Check that texts of documents have forms, and that templates escape what they print."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wirespeed.cli.reference.pages import DOCUMENT_KINDS
from wirespeed.document.kind import DocumentKind
from wirespeed.model.input.text import PROSE
from wirespeed.plan.render.interface import environment

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("kind", DOCUMENT_KINDS, ids=lambda kind: kind.name)
def test_every_text_of_every_kind_has_a_form(kind: DocumentKind[Any]) -> None:
    """Check that every text of a schema has a pattern, which excludes control characters.

    Free texts are Lines. Enumerations, and `schema_version`, have values or a pattern of their own.
    """

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
