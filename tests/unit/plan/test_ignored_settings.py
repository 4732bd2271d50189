# SPDX-License-Identifier: Apache-2.0
"""Check that every setting without effect is named, and no other."""

from __future__ import annotations

import pytest

from tests.support.examples import EXAMPLES, example_plan
from wirespeed.plan.workload.file import parse_workload
from wirespeed.plan.workload.ignored_settings import ignored_settings

VNF = '\n[[vnf]]\nname = "v"\nvcpus = 1\nmemory_mib = 1\n'


@pytest.mark.parametrize(
    ("setting", "any_vswitch", "note"),
    [
        ("cores = { pmd_core_order = [4] }", False, "cores.pmd_core_order have no effect"),
        ("vswitch = { rx_queues = 2 }", False, "vswitch.rx_queues have no effect"),
        ("vswitch = { rx_queues = 2 }", True, None),
        ("cores = { housekeeping_cores = 2 }", False, None),
        ("memory = { percent = 40 }", True, "memory.percent has no effect"),
        ('memory = { percent = 40, huge_pages = "tripleo" }', True, None),
        ('memory = { count = 4, huge_pages = "maximum" }', True, "memory.huge_pages has no effect"),
    ],
)
def test_a_setting(setting: str, any_vswitch: bool, note: str | None) -> None:
    workload = parse_workload(f'name = "t"\n{setting}{VNF}', "t.toml")
    found = list(ignored_settings(workload, any_vswitch=any_vswitch))
    assert len(found) == (note is not None)
    assert all(note in one for one in found if note)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_have_no_setting_without_effect(example: str) -> None:
    assert not [note for note in example_plan(example).warnings if "no effect" in note]
