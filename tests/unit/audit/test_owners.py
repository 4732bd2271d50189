# SPDX-License-Identifier: Apache-2.0
"""Test the owner that is shown for each CPU."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.audit.good_host import good_facts, with_config
from wirespeed.audit.owners import Owner, owners


def test_owners_of_the_good_host() -> None:
    owned = owners(good_facts())
    assert {cpu: owned[cpu] for cpu in (0, 1, 3, 5, 6, 13)} == {
        0: Owner.VSWITCHD,
        1: Owner.PMD,
        3: Owner.GUEST,
        5: Owner.GUEST_SET,
        6: Owner.HOST,
        13: Owner.ISOLATED,
    }


def test_an_offline_cpu_belongs_to_nobody() -> None:
    facts = good_facts()
    cpus = tuple(replace(c, online=c.id != 1) for c in facts.cpus)
    assert owners(replace(facts, cpus=cpus))[1] is Owner.OFFLINE


def test_a_senseless_mask_leaves_the_next_owner() -> None:
    assert owners(with_config(pmd_cpu_mask="nonsense").facts)[1] is Owner.ISOLATED
