# SPDX-License-Identifier: Apache-2.0
"""The JUnit report against the rules of junit-10.xsd of Jenkins' xunit plugin."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

from wirespeed.report.text.junit import junit_xml
from wirespeed.report.text.threshold_text import read_thresholds
from wirespeed.report.views.thresholds import judge
from wirespeed.store.records import PointRecord, PointState, RunRecord

# Of each element: the attributes it must have, those it may have, and what may be in it.
SCHEMA: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"},
                   {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors"},
                  {"time", "skipped", "timestamp", "hostname", "id", "package", "group", "log",
                   "url", "version", "file"},
                  {"testsuite", "properties", "testcase", "system-out", "system-err"}),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": ({"name"}, {"classname", "time", "group"},
                 {"skipped", "errors", "failure", "rerunFailure", "rerunError", "flakyFailure",
                  "flakyError", "system-out", "system-err"}),
    "skipped": (set(), {"type", "message"}, set()),
    "failure": (set(), {"type", "message"}, set()),
    "system-out": (set(), set(), set()),
}  # fmt: skip
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?")
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def parsed(text: str) -> ET.Element:
    """Check the document against the schema's rules; return it."""
    root = ET.fromstring(text.encode())  # noqa: S314 - our own
    assert root.tag == "testsuites"
    for element in root.iter():
        needed, allowed, children = SCHEMA[element.tag]
        assert needed <= set(element.keys()) <= needed | allowed, element.tag
        assert {child.tag for child in element} <= children
        assert TIME.fullmatch(element.get("time", "")), element.attrib
        for count in {"tests", "failures", "errors", "skipped"} & set(element.keys()):
            assert element.attrib[count].isdecimal()
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases)
        assert DATE_TIME.fullmatch(suite.attrib["timestamp"])
        for count, kind in (("failures", "failure"), ("errors", "errors"), ("skipped", "skipped")):
            having = sum(case.find(kind) is not None for case in cases)
            assert int(suite.attrib[count]) == having
    return root


def case_of(point: PointRecord, run: RunRecord, *texts: str) -> ET.Element:
    """Return the test case of a run of that point alone."""
    alone = replace(run, points=(point,))
    case = parsed(junit_xml(alone, judge(alone, read_thresholds(texts)))).find(".//testcase")
    assert case is not None
    return case


def test_junit_of_run_has_a_case_for_each_point(run: RunRecord) -> None:
    [suite] = parsed(junit_xml(run))
    names = [case.get("name") for case in suite.findall("testcase")]
    assert names == [point.caption for point in run.points]
    assert (suite.get("name"), suite.get("failures")) == (run.id, "0")
    assert {case.get("classname") for case in suite.findall("testcase")} == {run.study}
    out = suite.find("testcase/system-out")
    assert out is not None
    assert "NDR" in (out.text or "")


def test_junit_threshold_and_grade_missed_are_failures(run: RunRecord) -> None:
    texts = ["*: grade >= C", "p2p, 64 B: ndr >= 9e9", "p2p, 64 B: mrr >= 1"]
    [suite] = parsed(junit_xml(run, judge(run, read_thresholds(texts))))
    failed = {
        case.get("name"): [(each.get("type"), each.get("message")) for each in found]
        for case in suite.findall("testcase")
        if (found := case.findall("failure"))
    }
    assert failed.keys() == {"p2p, 64 B", "pvp, 64 B"}
    assert failed["pvp, 64 B"] == [("threshold", "pvp, 64 B: grade >= C: missed (grade D)")]
    [(kind, message)] = failed["p2p, 64 B"]
    assert kind == "threshold"
    assert message is not None
    assert message.startswith("p2p, 64 B: ndr >= 9e9: missed (")


def test_junit_bracket_across_the_limit_is_a_failure(run: RunRecord) -> None:
    case = case_of(run.points[3], run, "*: ndr >= 3e6")
    assert [each.get("type") for each in case.findall("failure")] == ["cannot tell"]


def test_junit_point_of_each_state(run: RunRecord) -> None:
    point = replace(run.points[0], result=None, error="needs 8 cores")
    skipped = case_of(replace(point, state=PointState.NOT_RUN), run).find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "needs 8 cores"
    pending = case_of(replace(point, state=PointState.PENDING, error=None), run).find("skipped")
    assert pending is not None
    failed = case_of(replace(point, state=PointState.FAILED), run).find("failure")
    assert failed is not None
    assert (failed.get("type"), failed.get("message")) == ("bench", "needs 8 cores")
    result = run.points[0].result
    assert result is not None
    bare = replace(result, ndr=None, pdr=None, mrr_fps=None, bracket=None, as_is=None)
    failure = case_of(replace(run.points[0], result=bare), run).find("failure")
    assert failure is not None
    assert failure.get("type") == "no rate"


def test_junit_star_without_any_point_is_a_failure(run: RunRecord) -> None:
    point = replace(run.points[0], result=None, error="no", state=PointState.NOT_RUN)
    alone = replace(run, points=(point,))
    root = parsed(junit_xml(alone, judge(alone, read_thresholds(["*: ndr > 1"]))))
    assert root[0].get("failures") == "1"


def test_junit_control_characters_are_escaped(run: RunRecord) -> None:
    label = 'a\x1b]8;;\x07<b attr="&">\x00\udc80\ufffe é'
    case = case_of(replace(run.points[0], label=label), run)
    assert case.get("name") == 'a\\x1b]8;;\\x07<b attr="&">\\x00\\udc80\\ufffe é'
