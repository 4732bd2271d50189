# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/audit-rules.md: every audit rule, from the rules themselves."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Rule
from wirespeed.audit.sources import PAPERS
from wirespeed.cli.reference.markdown import MADE, table

_HEAD = """# Audit rules

`wirespeed audit` runs these rules. Each is a pure function of the host's facts. Its result is
*failed*, *passed*, *not checked* (with the fact that could not be read, and why) or
*not applicable* (the host has nothing to check). `wirespeed audit --explain WS19` prints one rule;
[how to add a check](../howto/add-a-check.md) shows how to write another one. The source of a rule
that vendors advise ends with its effect where that was measured, or with *not measured here*.
"""


def audit_rules_page() -> str:
    """Return a table of all rules, then one section for each."""
    rows = [
        (f"[{rule.id}](#{rule.id.lower()}-{rule.name})", str(rule.severity), rule.title)
        for rule in all_rules()
    ]
    lines = [_HEAD, MADE, *table(("rule", "severity", "what it finds"), rows)]
    for rule in all_rules():
        lines += _section(rule)
    lines.append("## Sources\n")
    lines += [f"- {name}: {title}" for name, title in PAPERS.items()]
    return "\n".join(lines) + "\n"


def _section(rule: Rule) -> Iterator[str]:
    yield f"## {rule.id} {rule.name}\n"
    yield f"{rule.title} ({rule.severity}).\n"
    yield f"- Wanted: {_escaped(rule.wanted)}.\n- Why: {_escaped(rule.why)}"
    yield f"- Source: {rule.cited}.\n- Needs: {', '.join(need.value for need in rule.needs)}.\n"


def _escaped(text: str) -> str:
    """Escape characters that Markdown takes for markup, such as * in a path."""
    return text.replace("*", "\\*").replace("_", "\\_")
