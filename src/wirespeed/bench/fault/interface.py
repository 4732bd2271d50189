# SPDX-License-Identifier: Apache-2.0
"""Define a fault type: its places, its changes to a point, and its actions during a trial.

To add a type, write a file here that defines a FaultKind, and register it in FAULTS (__init__.py).
A fault is caused by settings of the point (`changed`), by settings of its plan (`planned`), or by
an action while the bench is up (`injection`). Explainers do not know of the fault.
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
    """Strength of a fault type."""

    meaning: str
    """Meaning of the value."""
    unit: str
    """Unit, e.g. "frames/s"."""
    default: float
    least: float
    """Smallest allowed value."""
    most: float
    """Largest allowed value."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A running bench and the fault to inject there."""

    frames: Frames
    """The point as it was built."""
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
        """Random numbers that depend only on the seed; no secret depends on them."""
        return random.Random(self.seed)  # noqa: S311

    def part(self, name: str) -> Part:
        """Return the component of that name. Raises StopIteration if there is none."""
        return next(part for part in self.parts if part.name == name)


class FaultKind(Protocol):
    """A type of fault."""

    @property
    def name(self) -> str:
        """Name, as in fault.kind."""
        ...

    @property
    def summary(self) -> str: ...

    @property
    def strength(self) -> Strength | None:
        """Strength; None if the fault has none."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Conditions on the host, as in a study's list `needs`."""
        ...

    @property
    def opens(self) -> bool:
        """The path passes frames until `injection` acts; else it may be blocked from the start."""
        ...

    def places(self, frames: Frames) -> tuple[str, ...]:
        """Return the ports, functions or programs where it can be injected; empty if none."""
        ...

    def refused(self, frames: Frames) -> Iterator[Fault]:
        """Yield the reasons why the point, as in the study, cannot have the fault."""
        ...

    def changed(self, frames: Frames, strength: float) -> Frames:
        """Return the point with the settings that cause the fault."""
        ...

    def planned(self, plan: HostPlan, facts: HostFacts, strength: float, place: str) -> HostPlan:
        """Return the plan of the SUT's host with the settings that cause the fault."""
        ...

    def injection(self, scene: Scene) -> Injection | None:
        """Return the action that causes the fault; None if settings cause it."""
        ...


class Kind:
    """Defaults of a fault type; each type overrides what it needs."""

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
    """An injection that is the same in every trial; a fault type adds `up`."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def up(self) -> None:
        """Do nothing before the first trial."""

    def begin(self) -> None:
        """Do nothing before a trial."""

    def steps(self, _duration_s: float) -> Sequence[Step]:
        return ()

    def rest(self) -> None:
        """Do nothing after the traffic."""

    def down(self) -> None:
        """Do nothing: the fault ends with the bench's programs."""
