# SPDX-License-Identifier: Apache-2.0
"""Write a run as a JUnit report: a suite a run, a test case a point.

Elements and attributes are those of https://github.com/jenkinsci/xunit-plugin, junit-10.xsd.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from xml.etree import ElementTree as ET

from wirespeed.report.text.sentence import point_sentences
from wirespeed.report.views.table import without_figures
from wirespeed.report.views.thresholds import EVERY_POINT, Judged, Verdict, unmet
from wirespeed.store.records import PointRecord, PointState, RunRecord

# Everything that XML 1.0 (section 2.2) cannot hold, escaped or not.
_NO_CHARACTER = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(run: RunRecord, judged: Sequence[Judged] = ()) -> str:
    """Return the XML document. Every threshold that is not met is a failure of its point."""
    suite = ET.Element("testsuite", name=_text(run.id))
    properties = ET.SubElement(suite, "properties")
    for name, value in (("study", run.study), ("wirespeed", run.versions.get("wirespeed", ""))):
        ET.SubElement(properties, "property", name=name, value=_text(value))
    without = set(without_figures(run))
    for point in run.points:
        own = [one for one in judged if one.key == point.key]
        suite.append(_case(run, point, own, without))
    if nowhere := [one for one in unmet(judged) if not one.key]:
        case = ET.SubElement(suite, "testcase", classname=_text(run.study), name=EVERY_POINT)
        _fail(case, nowhere)
    _count(suite, run)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _case(
    run: RunRecord, point: PointRecord, judged: Sequence[Judged], without: set[str]
) -> ET.Element:
    repeat = f", repeat {point.repeat}" if point.repeat > 1 else ""
    case = ET.Element(
        "testcase", classname=_text(run.study), name=_text(f"{point.caption}{repeat}")
    )
    if (took := _seconds(point.started_at, point.finished_at)) is not None:
        case.set("time", took)
    failed = unmet(judged)
    _fail(case, failed)
    if point.state is PointState.FAILED:
        # Of a bench; the schema has no element "error".
        ET.SubElement(case, "failure", type="bench", message=_text(point.error or "failed"))
    elif point.state is not PointState.COMPLETE:
        if not failed:
            ET.SubElement(case, "skipped", message=_text(point.error or str(point.state)))
    elif point.label in without:
        ET.SubElement(case, "failure", type="no rate", message="the point has no rate")
    ET.SubElement(case, "system-out").text = _text("\n".join(point_sentences(point)))
    return case


def _fail(case: ET.Element, judged: Sequence[Judged]) -> None:
    for one in judged:
        kind = "threshold" if one.verdict is Verdict.MISSED else str(one.verdict)
        ET.SubElement(case, "failure", type=kind, message=_text(str(one)))


def _count(suite: ET.Element, run: RunRecord) -> None:
    """Set the attributes of a suite; a case that failed twice counts once, as CI servers do."""
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    suite.set("errors", "0")
    for name, kind in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(kind) is not None for case in cases)))
    suite.set("hostname", _text(run.host.host))
    # xs:dateTime in UTC without a zone, as Ant writes it.
    suite.set("timestamp", run.started_at[:19])
    if (took := _seconds(run.started_at, run.finished_at)) is not None:
        suite.set("time", took)


def _seconds(begun: str | None, ended: str | None) -> str | None:
    if begun is None or ended is None:
        return None
    took = datetime.fromisoformat(ended) - datetime.fromisoformat(begun)
    return f"{max(took.total_seconds(), 0.0):.3f}"


def _text(text: str) -> str:
    r"""Write characters that no XML document can hold as their escapes, e.g. \x1b."""
    return _NO_CHARACTER.sub(
        lambda found: f"\\x{ord(found[0]):02x}" if ord(found[0]) < 0x100 else
        f"\\u{ord(found[0]):04x}", text,
    )  # fmt: skip
