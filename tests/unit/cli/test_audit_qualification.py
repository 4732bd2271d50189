# SPDX-License-Identifier: Apache-2.0
"""Check the audit of a qualification's system management interrupts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Command
from tests.unit.cli.test_qualify import CLEAN, FOUND, MS, NOISY
from wirespeed.qualify.document import QUALIFICATION
from wirespeed.qualify.qualification import Cause, Interrupter, Qualification

HOST = str(Path(__file__).parents[3] / "tests" / "hosts" / "s3-r740xd")
BY_FIRMWARE = replace(
    NOISY, smis=3, interrupters=(Interrupter(Cause.FIRMWARE, "", 3, 310_000, MS),)
)


def audited(wirespeed: Command, found: Qualification) -> tuple[str, str]:
    """Return status and text of the rule about SMIs."""
    Path("q.json").write_text(json.dumps(QUALIFICATION.document(found)), encoding="utf-8")
    ended = wirespeed("audit", "--recorded", HOST, "--qualification", "q.json", "--json")
    assert ended.code == 0, ended.err
    [finding] = [f for f in json.loads(ended.out)["findings"] if f["rule"] == "WS65"]
    return finding["status"], finding["found"]


@pytest.mark.parametrize(
    ("cpus", "status", "text"),
    [
        ((BY_FIRMWARE, CLEAN), "failed", "3 SMIs in 60 s on CPUs 2, the longest gap 310 us"),
        ((NOISY,), "passed", "no SMI in 60 s on CPUs 2"),
        ((CLEAN,), "not checked", "needs counts of SMIs (MSR 0x34 of Intel): run `modprobe msr`, "
                                  "then `wirespeed qualify`"),
    ],
)  # fmt: skip
def test_audit_qualification_smis_are_checked(
    wirespeed: Command, cpus: tuple[object, ...], status: str, text: str
) -> None:
    found = replace(FOUND, cpus=cpus, host="s3-r740xd")  # type: ignore[arg-type]
    assert audited(wirespeed, found) == (status, text)


def test_audit_qualification_of_an_older_version_is_read(wirespeed: Command) -> None:
    document = QUALIFICATION.document(FOUND)
    del document["host"]
    Path("q.json").write_text(json.dumps({**document, "schema_version": "1.0"}), encoding="utf-8")
    assert wirespeed("audit", "--recorded", HOST, "--qualification", "q.json").code == 0


def test_audit_qualification_of_another_host_is_refused(wirespeed: Command) -> None:
    document = QUALIFICATION.document(replace(FOUND, host="other"))
    Path("q.json").write_text(json.dumps(document), encoding="utf-8")
    ended = wirespeed("audit", "--recorded", HOST, "--qualification", "q.json")
    assert (ended.code, ended.out) == (2, "")
    assert "it is of host other, not of s3-r740xd" in ended.err
