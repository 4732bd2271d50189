# SPDX-License-Identifier: Apache-2.0
"""Test the JSON, SARIF and HTML output of an audit against its findings and formats."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest

from tests.support import golden
from tests.unit.audit.good_host import with_config, with_facts, with_kernel, with_nova
from tests.unit.audit.test_papers import report_of
from wirespeed.audit.document import document, json_schema
from wirespeed.audit.engine import audit
from wirespeed.audit.html import html
from wirespeed.audit.registry import all_rules
from wirespeed.audit.sarif import sarif
from wirespeed.audit.suppressions import Suppression, suppress
from wirespeed.document.readable_json import readable_json
from wirespeed.model.host.finding import AuditReport, Severity, Status

SCHEMA = Path(__file__).parents[3] / "schemas" / "audit.schema.json"


@pytest.fixture(scope="module")
def s3() -> AuditReport:
    accepted = [Suppression("WS11", "pairs wanted")]
    return suppress(report_of("s3-r740xd"), accepted, date(2026, 1, 1))


def test_json_is_as_its_schema_says(s3: AuditReport) -> None:
    schema = json.loads(SCHEMA.read_text())
    assert schema == json_schema(), "run `make docs`"
    text = readable_json(document(s3))
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))
    golden.check("audit/s3-r740xd.json", text)


def test_counts_add_up(s3: AuditReport) -> None:
    counts = document(s3)["counts"]
    assert sum(counts.values()) == len(s3.findings)
    assert counts["suppressed"] == 1


def test_sarif_has_a_rule_and_a_result_for_everything(s3: AuditReport) -> None:
    log = sarif(s3, all_rules(), "1.0")
    golden.check("audit/s3-r740xd.sarif", readable_json(log))
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert log["version"] == "2.1.0"
    assert len(rules) == 71
    assert len(run["results"]) == len(s3.findings)
    for result, finding in zip(run["results"], s3.findings, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding.rule
        # SARIF 3.27.10: only failures have a level other than none.
        assert (result["level"] != "none") == (result["kind"] == "fail")
    kinds = {result["ruleId"]: result["kind"] for result in run["results"]}
    assert (kinds["WS27"], kinds["WS33"], kinds["WS01"]) == ("fail", "open", "pass")
    accepted = next(r for r in run["results"] if r["ruleId"] == "WS11")
    assert accepted["suppressions"] == [{"kind": "external", "justification": "pairs wanted"}]


def test_sarif_lists_configuration_errors() -> None:
    report = audit(with_config(pmd_cpu_mask="0xf000000"), all_rules())
    (invocation,) = sarif(report, all_rules(), "1")["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert "24-27" in invocation["toolConfigurationNotifications"][0]["message"]["text"]


class _Page(HTMLParser):
    """Checks that tags are balanced and collects the addresses that a browser would load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)
        self.loads += [tag for name, _ in attrs if name in ("src", "href")]
        self.loads += [tag] if tag == "script" else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_whole_and_loads_nothing(s3: AuditReport) -> None:
    page = html(s3, "1.0")
    parser = _Page()
    parser.feed(page)
    assert (parser.open, parser.loads) == ([], [])
    assert "url(" not in page
    for finding in s3.with_status(Status.FAILED):
        assert finding.rule in page
    assert "pairs wanted" in page
    assert "Dell and Intel" in page


def test_a_passed_rule_is_shown_by_the_state_it_wants(s3: AuditReport) -> None:
    passed = next(f for f in s3.with_status(Status.PASSED) if f.rule == "WS08")
    page = html(s3, "1.0")
    assert f"<td>WS08</td><td>{passed.wanted}</td>" in page
    assert passed.title not in page


def test_html_escapes_what_a_host_says() -> None:
    facts = with_facts().facts
    guest = replace((facts.guests or ())[0], name="<script>x</script>", huge_page_kib=None)
    page = html(audit(with_facts(guests=(guest,)), all_rules()), "1")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_the_same_host_gives_the_same_bytes() -> None:
    first, second = report_of("s0-compute"), report_of("s0-compute")
    assert json.dumps(document(first)) == json.dumps(document(second))


def test_worst_severity_ignores_what_did_not_fail() -> None:
    assert audit(with_facts(), all_rules()).worst is None
    assert audit(with_kernel(nohz_full=()), all_rules()).worst is Severity.HIGH


def test_cpu_sets_wider_than_the_host_are_all_faults() -> None:
    subject = with_config(pmd_cpu_mask="0xzz", dpdk_lcore_mask="0x1000000")
    nova = with_nova(dedicated_cpus=(3, 99), shared_cpus=(98,)).facts.nova
    kernel = with_kernel(rcu_nocbs=(97,)).facts.kernel
    facts = replace(subject.facts, nova=nova, kernel=kernel)
    faults = audit(replace(subject, facts=facts), all_rules()).faults
    assert len(faults) == 5
    for part in ("0xzz", "names 24", "names 99", "names 98", "names 97"):
        assert sum(bool(re.search(part, fault)) for fault in faults) == 1
