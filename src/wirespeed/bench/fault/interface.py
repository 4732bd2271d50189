# SPDX-License-Identifier: Apache-2.0
"""What is a kind of fault: where can it be caused, what does it change, what does it do meanwhile?

To add one: a file here that makes a FaultKind, and its name in FAULTS (__init__.py). A fault is
caused by settings of the point (`changed`) or of its plan (`planned`), or by something that is done
while the bench is up (`injection`). Nothing that explains a point is told of it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Injection, Part, Step
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.study.spec import Frames


@dataclass(frozen=True, slots=True)
class Strength:
    """What the strength of a kind means. unit: e.g. "frames/s"; least and most are allowed."""

    meaning: str
    unit: str
    default: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Scene:
    """A bench that is up, and what is to be caused on it. frames: the point as it was built."""

    frames: Frames
    strength: float
    place: str
    seed: int
    host: Host
    dirs: Directories
    plan: HostPlan
    wiring: Wiring
    parts: Sequence[Part]

    @property
    def chance(self) -> random.Random:
        """The same for the same seed. No secret depends on it."""
        return random.Random(self.seed)  # noqa: S311

    def part(self, name: str) -> Part:
        """Raises StopIteration where the bench has no part of that name."""
        return next(part for part in self.parts if part.name == name)


class FaultKind(Protocol):
    """name: as written in fault.kind. strength: None where there is no more or less of it. needs:
    what the host must have, as in a study's list `needs`. opens: whether the path passes frames
    until `injection` has done its work; else the fault may keep it shut from the beginning."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def strength(self) -> Strength | None: ...

    @property
    def needs(self) -> tuple[str, ...]: ...

    @property
    def opens(self) -> bool: ...

    def places(self, frames: Frames) -> tuple[str, ...]:
        """Ports of the switch, functions or programs where it can be caused; empty: nowhere at this
        point."""
        ...

    def refused(self, frames: Frames) -> Iterator[Fault]:
        """Why this point, as the study has it, cannot have the fault."""
        ...

    def changed(self, frames: Frames, strength: float) -> Frames:
        """The point with the settings that cause it."""
        ...

    def planned(self, plan: HostPlan, facts: HostFacts, strength: float, place: str) -> HostPlan:
        """The plan of the SUT's host with the settings that cause it."""
        ...

    def injection(self, scene: Scene) -> Injection | None:
        """What causes it while the bench is up; None where its settings do."""
        ...


class Kind:
    """What kinds of faults have in common: each overrides what it needs."""

    name = ""
    summary = ""
    strength: Strength | None = None
    needs: tuple[str, ...] = ()
    opens = True

    def places(self, _frames: Frames) -> tuple[str, ...]:
        raise NotImplementedError

    def refused(self, _frames: Frames) -> Iterator[Fault]:
        return iter(())

    def changed(self, frames: Frames, _strength: float) -> Frames:
        return frames

    def planned(self, plan: HostPlan, _facts: HostFacts, _strength: float, _place: str) -> HostPlan:
        return plan

    def injection(self, _scene: Scene) -> Injection | None:
        return None


class Lasting:
    """An injection that stays as it is from trial to trial; a kind adds `up`."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def up(self) -> None:
        """Nothing to do before the first trial."""

    def begin(self) -> None:
        """Nothing to do before a trial."""

    def steps(self, _duration_s: float) -> Sequence[Step]:
        return ()

    def rest(self) -> None:
        """Nothing to do after the traffic."""

    def down(self) -> None:
        """What it changed ends with the bench's programs."""
