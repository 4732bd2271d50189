# SPDX-License-Identifier: Apache-2.0
"""Is every wish that decides nothing named, and no other?"""

from __future__ import annotations

import pytest

from tests.plan.lab import EXAMPLES, example_plan
from wirespeed.plan.unheeded import unheeded_wishes
from wirespeed.plan.workload_file import parse_workload

VNF = '\n[[vnf]]\nname = "v"\nvcpus = 1\nmemory_mib = 1\n'


@pytest.mark.parametrize(
    ("wish", "any_vswitch", "said"),
    [
        ("cores = { pmd_core_order = [4] }", False, "cores.pmd_core_order decide nothing"),
        ("vswitch = { rx_queues = 2 }", False, "vswitch.rx_queues decide nothing"),
        ("vswitch = { rx_queues = 2 }", True, None),
        ("cores = { housekeeping_cores = 2 }", False, None),
        ("memory = { percent = 40 }", True, "memory.percent decides nothing"),
        ('memory = { percent = 40, huge_pages = "tripleo" }', True, None),
        ('memory = { count = 4, huge_pages = "maximum" }', True, "memory.huge_pages decides"),
    ],
)
def test_a_wish(wish: str, any_vswitch: bool, said: str | None) -> None:
    workload = parse_workload(f'name = "t"\n{wish}{VNF}', "t.toml")
    found = list(unheeded_wishes(workload, any_vswitch=any_vswitch))
    assert len(found) == (said is not None)
    assert all(said in note for note in found if said)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_ask_for_nothing_in_vain(example: str) -> None:
    assert not [note for note in example_plan(example).warnings if "decide" in note]
