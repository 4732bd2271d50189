# SPDX-License-Identifier: Apache-2.0
"""Check the errors on a host that lacks what guests need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.unit.plan.test_bench import host
from wirespeed.bench.interface import BenchError
from wirespeed.image.errors import ImageError
from wirespeed.model.study.spec import Frames, Sut, Topology, Vnf
from wirespeed.remote.interface import Completed
from wirespeed.remote.local import LocalRunner
from wirespeed.session.guests import GuestSource
from wirespeed.session.rig import plan_of


class Pretending(LocalRunner):
    """Gives canned answers to commands with certain words."""

    def __init__(self, told: Mapping[str, Completed]) -> None:
        super().__init__()
        self.told = told

    def run(self, argv: Sequence[str], **how: object) -> Completed:  # type: ignore[override]
        known = next((answer for word, answer in self.told.items() if word in argv), None)
        return known or super().run(argv, **how)  # type: ignore[arg-type]


def answer(code: int) -> Completed:
    return Completed((), code, "", "")


def plan_with(placement: str) -> object:
    frames = Frames(Topology("pvp"), sut=Sut(vnf=Vnf(placement=placement)))
    return plan_of(host(cores=8), frames)


@pytest.mark.parametrize("program", ["virt-qemu-run", "qemu-system-x86_64"])
def test_a_program_that_is_not_installed_is_named(program: str) -> None:
    there = {name: answer(0) for name in ("virt-qemu-run", "qemu-system-x86_64")}
    runner = Pretending({**there, program: answer(127)})
    with pytest.raises(BenchError, match=f"guests need {program}, which is not on"):
        GuestSource(runner).guests_of(plan_with("guest"))  # type: ignore[arg-type]


def test_without_guests_nothing_is_asked_of_the_host() -> None:
    runner = Pretending({"sh": answer(127)})
    assert GuestSource(runner).guests_of(plan_with("process")) is None  # type: ignore[arg-type]


def test_an_image_that_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIRESPEED_IMAGES", str(tmp_path))
    monkeypatch.setattr("wirespeed.image.recipes.guest", lambda _runner: _Recipe())
    runner = Pretending({"sh": answer(0)})
    with pytest.raises(ImageError) as caught:
        GuestSource(runner).guests_of(plan_with("guest"))  # type: ignore[arg-type]
    assert str(tmp_path) in caught.value.what
    assert "make guest-image" in caught.value.next_step


class _Recipe:
    name, digest = "guest", "0"
