# SPDX-License-Identifier: Apache-2.0
"""Read from a qualification what the audit checks: system management interrupts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from wirespeed.document.text_file import read_input
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.platform import CpuSmis, SmiCount
from wirespeed.qualify.document import QUALIFICATION
from wirespeed.qualify.qualification import Cause


def with_smis(facts: HostFacts, path: Path) -> HostFacts:
    """Return the facts with the SMIs that a qualification of the host counted. Raises BadInput."""
    found = QUALIFICATION.parse(read_input(path, QUALIFICATION.next_step), str(path))
    if found.host and found.host != facts.host:
        raise BadInput(
            f"--qualification {path}: it is of host {found.host}, not of {facts.host}",
            "Name a qualification of the host that is audited.",
        )
    gaps = [by for cpu in found.cpus for by in cpu.interrupters if by.cause is Cause.FIRMWARE]
    smis = SmiCount(
        watched_s=found.watched_s,
        cpus=tuple(CpuSmis(each.cpu, each.smis) for each in found.cpus if each.smis is not None),
        longest_ns=max((by.longest_ns for by in gaps), default=0),
    )
    missing = tuple(each for each in facts.missing if each.fact != "smis")
    return replace(facts, smis=smis, missing=missing)
