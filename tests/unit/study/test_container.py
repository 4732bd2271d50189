# SPDX-License-Identifier: Apache-2.0
"""Check which points can have functions in containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.study.test_load import faults, write
from wirespeed.study.load import load_study

CONTAINER = 'sut.vnf.placement = "container"\n'


@pytest.mark.parametrize("topology", ["pvp", "host"])
def test_container_may_have_functions_of_a_switch_and_of_the_host(
    tmp_path: Path, topology: str
) -> None:
    text = f'topology.kind = "{topology}"\n{CONTAINER}sut.vnf.threads = "node"\n'
    assert len(load_study(write(tmp_path, text)).points) == 1


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ('topology.kind = "wire"\n' + CONTAINER, "sut.vnf.placement", "it is one process"),
        (
            'topology.kind = "pvp"\n' + CONTAINER + "[guest]\nvcpus = 2\n",
            "guest", 'goes with sut.vnf.placement = "guest"',
        ),
        (
            'topology.kind = "pvp"\nfault.kind = "slow-vnf"\n' + CONTAINER,
            "fault.kind", 'needs sut.vnf.placement = "process", not "container"',
        ),
        ('topology.kind = "pvp"\nsut.vnf.placement = "pod"\n', "sut.vnf.placement", "container"),
    ],
)  # fmt: skip
def test_container_with_conflicting_keys_is_an_error_of_the_key(
    tmp_path: Path, text: str, key: str, said: str
) -> None:
    assert said in faults(tmp_path, text)[key]
