# SPDX-License-Identifier: Apache-2.0
"""Test which words grubby removes and adds."""

from __future__ import annotations

import pytest

from tests.support.fake_boot import BASE, Grubby
from tests.support.fake_host import FakeHost
from wirespeed.apply.steps.grubby import GrubbyArguments

HOST = "ssh://lab1"


@pytest.mark.parametrize(
    ("now", "wanted"),
    [
        ("quiet", "quiet iommu=pt"),
        ("quiet iommu=pt", "quiet"),
        ("quiet iommu=pt", ""),
        ("", "quiet"),
        # A parameter with several words: a new one replaces all of them.
        ("console=tty0 console=ttyS0 quiet", "console=tty0 console=hvc0 quiet"),
        ("hugepagesz=1G hugepages=4 quiet", "hugepagesz=1G hugepages=4 quiet hugepagesz=2M "
         "hugepages=8"),
        ("hugepagesz=1G hugepages=4", "hugepagesz=1G hugepages=9"),
        ("iommu=soft quiet", "quiet iommu=pt"),
    ],
)  # fmt: skip
def test_grubby_reaches_the_words_in_their_order(now: str, wanted: str) -> None:
    host, setting = FakeHost(boot_loader=Grubby(f"root=/dev/vda1 {now}".strip())), GrubbyArguments()
    with host.reach(HOST, sudo=True) as runner:
        assert setting.read(runner) == now
        setting.make(runner, wanted)
        assert setting.read(runner) == wanted
        setting.make(runner, now)
        assert setting.read(runner) == now


def test_grubby_leaves_variables_of_grub_in_their_place() -> None:
    host, setting = (
        FakeHost(boot_loader=Grubby(f"{BASE} iommu=soft $tuned_params")),
        GrubbyArguments(),
    )
    with host.reach(HOST, sudo=True) as runner:
        wanted = "ro console=ttyS0 $tuned_params iommu=pt"
        setting.make(runner, wanted)
        assert setting.read(runner) == wanted
        setting.make(runner, "ro console=ttyS0 iommu=soft $tuned_params")
        assert setting.left(runner, "ro console=ttyS0 iommu=soft $tuned_params") == ()
