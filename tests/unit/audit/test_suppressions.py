# SPDX-License-Identifier: Apache-2.0
"""Test that accepted findings carry their reason and that stale entries are reported."""

from __future__ import annotations

from datetime import date

import pytest

from tests.unit.audit.good_host import with_port
from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.suppressions import Suppression, parse, suppress
from wirespeed.model.errors import BadInput
from wirespeed.model.host.finding import AuditReport, Severity, Status

TODAY = date(2026, 6, 1)


def report() -> AuditReport:
    """Return two failed findings: WS17 for dpdk0, WS16 for dpdk0 (four rxqs, two threads)."""
    subject = with_port("dpdk0", rx_descriptors=1024, configured_rx_queues=4, requested_rx_queues=4)
    return audit(subject, all_rules())


def failed(after: AuditReport) -> set[str]:
    return {f.rule for f in after.with_status(Status.FAILED)}


def test_a_suppressed_finding_keeps_its_reason_and_no_longer_counts() -> None:
    assert failed(report()) == {"WS16", "WS17"}
    after = suppress(report(), parse('[[suppress]]\nrule="16"\nreason="lab"', "f"), TODAY)
    (accepted,) = after.with_status(Status.SUPPRESSED)
    assert (accepted.rule, accepted.suppressed_because) == ("WS16", "lab")
    assert failed(after) == {"WS17"}
    assert after.worst is Severity.MEDIUM
    assert after.notes == ()


def test_host_and_subject_patterns_limit_it() -> None:
    elsewhere = Suppression("WS16", "x", host="other-*")
    other_port = Suppression("WS16", "x", subject="dpdk1")
    here = Suppression("WS16", "x", host="go*", subject="dpdk[0]")
    assert "WS16" in failed(suppress(report(), [elsewhere], TODAY))
    assert "WS16" in failed(suppress(report(), [other_port], TODAY))
    assert "WS16" not in failed(suppress(report(), [here], TODAY))


def test_an_expired_entry_does_nothing_and_is_reported() -> None:
    text = '[[suppress]]\nrule="WS16"\nreason="until spring"\nuntil=2026-06-01'
    after = suppress(report(), parse(text, "f"), TODAY)
    assert "WS16" in failed(after)
    assert after.notes == (
        "suppression of WS16 (until spring) expired on 2026-06-01; remove it or give it a new date",
    )
    day_before = suppress(report(), parse(text, "f"), date(2026, 5, 31))
    assert "WS16" not in failed(day_before)


def test_an_entry_that_matches_nothing_is_reported() -> None:
    after = suppress(report(), [Suppression("WS01", "old")], TODAY)
    assert after.notes == ("suppression of WS01 (old) matches no finding on this host",)


def test_passed_and_unchecked_findings_are_never_suppressed() -> None:
    after = suppress(report(), [Suppression(r.id, "all") for r in all_rules()], TODAY)
    assert {f.rule for f in after.with_status(Status.SUPPRESSED)} == {"WS16", "WS17"}


def test_every_fault_of_the_file_is_reported() -> None:
    text = """
[[suppress]]
rule = "WS99"
reason = "no such rule"
[[suppress]]
rule = "WS01"
reason = "fine"
"""
    with pytest.raises(BadInput, match=r"entry 1: there is no audit rule 'WS99'"):
        parse(text, "f.toml")
    text = """
colour = "red"
[[suppress]]
rule = "WS01"
reason = "  "
[[suppress]]
rule = "WS01"
becase = "typo"
until = "soon"
"""
    with pytest.raises(BadInput, match=r"f\.toml: 5 errors") as caught:
        parse(text, "f.toml")
    for told in (
        'colour = "red": unknown key',
        "entry 1: reason",
        "entry 2: reason: is missing",
        'entry 2: becase = "typo": unknown key',
        "entry 2: until",
    ):
        assert told in caught.value.what


@pytest.mark.parametrize("text", ["suppress = 3", "[[suppress]", "suppress = [3]"])
def test_a_file_of_another_kind_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"f\.toml"):
        parse(text, "f.toml")


def test_an_empty_file_suppresses_nothing() -> None:
    assert parse("", "f.toml") == ()
