# SPDX-License-Identifier: Apache-2.0
"""Check the errors of points that cannot have guests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.study.test_load import faults, write
from wirespeed.model.study.spec import Frames, Guest, GuestPages
from wirespeed.study.load import load_study

GUEST = 'topology.kind = "pvp"\nsut.vnf.placement = "guest"\n'


def test_a_guest_and_its_table(tmp_path: Path) -> None:
    text = GUEST + '[guest]\nvcpus = 4\nmemory_mib = 1024\npages = "memfd"\n'
    [point] = load_study(write(tmp_path, text)).points
    assert isinstance(point.workload, Frames)
    assert point.workload.guest == Guest(4, 1024, GuestPages.MEMFD)


def test_a_point_without_guests_is_the_one_that_it_was_before_there_were_any(
    tmp_path: Path,
) -> None:
    [point] = load_study(write(tmp_path, 'topology.kind = "pvp"\n')).points
    assert "guest" not in point.parameters


def test_guest_keys_do_not_apply_to_p2p_points(tmp_path: Path) -> None:
    """Check that one study may have both p2p and pvp."""
    text = 'sut.vnf.placement = "guest"\n[guest]\nvcpus = 2\n[vary]\n'
    study = load_study(write(tmp_path, text + '"topology.kind" = ["p2p", "pvp"]\n'))
    assert len(study.points) == 2


def test_a_guest_may_have_virtual_functions(tmp_path: Path) -> None:
    text = 'topology.kind = "sriov"\nsut.vnf.placement = "guest"\nsut.ports = ["0000:3b:00.0"]\n'
    assert len(load_study(write(tmp_path, text)).points) == 1


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ('topology.kind = "wire"\nsut.vnf.placement = "guest"\n', "sut.vnf.placement", "chain"),
        ('topology.kind = "host"\nsut.vnf.placement = "guest"\n', "sut.vnf.placement", "chain"),
        (GUEST + '[hosts]\ngenerator = "a"\nsut = "b"\n', "sut.vnf.placement", "one host"),
        (GUEST + 'sut.vnf.threads = "node"\n', "sut.vnf.placement", "to tune"),
        (GUEST + "sut.vswitch.rx_queues = 9\n", "sut.vswitch.rx_queues", "at most: 8"),
        (
            GUEST + "sut.vswitch.rx_queues = 4\n[guest]\nvcpus = 2\n",
            "sut.vswitch.rx_queues", "at most: 2",
        ),
        (GUEST + "[guest]\nvcpus = 9\n", "guest.vcpus", "8"),
        (GUEST + "[guest]\nvcpus = 0\n", "guest.vcpus", "1"),
        (GUEST + "[guest]\nmemory_mib = 64\n", "guest.memory_mib", "256"),
        (GUEST + '[guest]\npages = "tiny"\n', "guest.pages", "huge"),
        (GUEST + "[guest]\ncpus = 2\n", "guest.cpus", "vcpus"),
        ('topology.kind = "pvp"\n[guest]\nvcpus = 2\n', "guest", "placement"),
    ],
)  # fmt: skip
def test_conflicting_guest_keys_are_an_error_of_the_key(
    tmp_path: Path, text: str, key: str, said: str
) -> None:
    assert said in faults(tmp_path, text)[key]
