# SPDX-License-Identifier: Apache-2.0
"""Check the collector of guests on a real QEMU, which has a vCPU and executes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.support.waiting import until
from wirespeed.kpi.collectors.guests import EMULATOR, GuestCollector
from wirespeed.kpi.interface import Missing, Name
from wirespeed.remote.local import LocalRunner

QEMU = "qemu-system-x86_64"


def values(guest: str) -> dict[Name, int]:
    found = GuestCollector().probe(LocalRunner())
    if isinstance(found, Missing):
        return {}
    return {
        (key, labels): count
        for source in found
        for (key, labels), count in source.read().values.items()
        if labels[0] == guest
    }


@pytest.mark.skipif(shutil.which(QEMU) is None, reason=f"{QEMU} is not installed")
def test_real_guest_has_its_vcpu_and_emulator_until_it_ends() -> None:
    name = f"kpi-{os.getpid()}"
    words = (
        "-accel",
        "tcg",
        "-machine",
        "q35",
        "-m",
        "16",
        "-S",
        "-nodefaults",
        "-display",
        "none",
    )
    with subprocess.Popen([QEMU, "-name", f"guest={name},debug-threads=on", *words]) as guest:
        try:
            until(lambda: ("guest_thread_cpu", (name, "CPU 0/TCG")) in values(name), "the vCPU")
            found = values(name)
        finally:
            guest.kill()
            guest.wait()
    assert {labels for key, labels in found if key == "guest_thread_cpu_seconds"} == {
        (name, "CPU 0/TCG"), (name, EMULATOR),
    }  # fmt: skip
    assert found["guest_thread_cpu_seconds", (name, EMULATOR)] > 0
    assert values(name) == {}
