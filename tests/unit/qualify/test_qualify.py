# SPDX-License-Identifier: Apache-2.0
"""Check how slices and counts become the account of a host, and how the program is configured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import pytest

from tests.unit.qualify.test_slices import BEGAN, FIRST, GHZ, HOG, MS, POLLER, Names, Program
from wirespeed.bench.interface import BenchError
from wirespeed.model.cpus import CpuPlacement
from wirespeed.qualify import qualify as module
from wirespeed.qualify.pollers import configuration
from wirespeed.qualify.qualification import Cause, Qualification
from wirespeed.qualify.slices import SliceRecorder
from wirespeed.remote.interface import Runner

NEAR, FAR = CpuPlacement(40.0, 1.0), CpuPlacement(300.0, 1.0)


@dataclass
class Placed(Program):
    """A program whose CPUs are somewhere; nobody can say where once the list is empty."""

    places: list[CpuPlacement] = field(default_factory=list)
    tsc_hz: int = GHZ

    def ask(self, command: str) -> Any:
        if command == "lcores":
            return {"1": {"cpu": 1, "tid": POLLER}}
        return super().ask(command)

    def placement(self, _cpu: int, _other: int) -> CpuPlacement:
        if not self.places:
            raise BenchError("no clock")
        return self.places.pop(0)


class Host(Names):
    """A host whose CPU 1 has 30 ms of steal time between the two readings of it."""

    def __init__(self) -> None:
        self._stolen = iter((5, 8))

    def read(self, path: str) -> str:
        if path.endswith("/hostname"):
            return "host1\n"
        return f"cpu1 0 0 0 0 0 0 0 {next(self._stolen)} 0 0\n"


def qualified(
    monkeypatch: pytest.MonkeyPatch, program: Placed, cpus: Sequence[int] = (1,)
) -> Qualification:
    @contextmanager
    def polling(*_: object) -> Iterator[tuple[Placed, str]]:
        yield program, "nice -20"

    monkeypatch.setattr(module, "polling", polling)
    monkeypatch.setattr(module, "SliceRecorder", partial(SliceRecorder, wait=lambda _: None))
    return module.qualify(cast(Runner, Host()), cpus, (0, 1), 1.0)


def test_qualify_names_the_longest_gap_and_its_backlog(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps = [[FIRST, 2 * MS, 0], [FIRST + 30 * MS, 25 * MS, 0]]
    runs = [[BEGAN, FIRST - BEGAN, POLLER], [FIRST, 2 * MS, HOG], [FIRST + 2 * MS, GHZ, POLLER]]
    found = qualified(monkeypatch, Placed(gaps=gaps, runs=runs))
    [cpu] = found.cpus
    assert (cpu.gaps, cpu.longest_ns, cpu.longest_by) == (2, 25 * MS, "hypervisor")
    assert [(one.cause, one.name) for one in cpu.interrupters] == [
        (Cause.HYPERVISOR, ""), (Cause.PROGRAM, "hog"),
    ]  # fmt: skip
    assert (cpu.steal_ns, cpu.smis) == (30 * MS, None)
    assert (cpu.total_ns, cpu.backlog_ns) == (27 * MS, 25 * MS)
    assert found.rings[-1].lossless_fps == pytest.approx(4096 / 0.025)
    assert (found.moved, found.unseen, found.priority) == (None, (), "nice -20")
    assert found.host == "host1"


def test_qualify_cpu_without_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    found = qualified(monkeypatch, Placed())
    [cpu] = found.cpus
    assert (cpu.gaps, cpu.longest_ns, cpu.longest_by, cpu.interrupters) == (0, 0, "", ())
    assert {need.lossless_fps for need in found.rings} == {None}


@pytest.mark.parametrize(
    ("places", "moved"), [([NEAR, NEAR], False), ([NEAR, FAR], True), ([NEAR], None)]
)
def test_qualify_placement_before_and_after(
    monkeypatch: pytest.MonkeyPatch, places: list[CpuPlacement], moved: bool | None
) -> None:
    program = Placed(places=list(places))
    monkeypatch.setattr(module, "_cpu", lambda cpu, *_: _account(cpu))
    found = qualified(monkeypatch, program, (0, 1))
    assert found.moved is moved
    assert found.unseen == (("where the CPUs are is not known: no clock",) if moved is None else ())


def _account(cpu: int) -> module.QualifiedCpu:
    return module.QualifiedCpu(cpu, 0, 0, "", 0, 0, (), (), 0, None)


def test_configuration_main_lcore_takes_a_cpu_that_is_not_polled() -> None:
    config = configuration((2, 3), {0, 1, 2, 3}, "x")
    assert (config.control_cpu, config.cpus) == (0, (2, 3))
    assert {(task.type, task.lcore) for task in config.tasks} == {
        ("gen", 1), ("sink", 1), ("gen", 2), ("sink", 2),
    }  # fmt: skip
    assert configuration((2, 3), {2, 3}, "x").control_cpu == 2
