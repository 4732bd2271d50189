# SPDX-License-Identifier: Apache-2.0
"""Add a fault to a point: to its settings, its plan, and its running bench."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wirespeed.bench.assembly.layout import Place
from wirespeed.bench.fault import FAULTS
from wirespeed.bench.fault.interface import FaultKind, Scene
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Injection, Part
from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.fault import Fault, show
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.study.injected import InjectedFault
from wirespeed.model.study.spec import Frames, Roles, Vswitch


def refusals(frames: Frames) -> Iterator[Fault]:
    """Yield the reasons why the point cannot have its fault."""
    wanted = frames.fault
    if wanted is None:
        return
    kind = FAULTS[wanted.kind]
    if frames.hosts != Roles():
        yield Fault("fault.kind", kind.name, "is caused on one host: leave out [hosts]")
    places = kind.places(frames)
    if not places:
        allowed = f'cannot be caused with topology.kind = "{frames.topology.kind}"'
        yield Fault("fault.kind", kind.name, f"{allowed} and {_switch_words(frames.sut.vswitch)}")
        return
    if wanted.at is not None and wanted.at not in places:
        yield Fault("fault.at", wanted.at, f"must be one of {', '.join(places)}")
    yield from _strength_refusals(kind, wanted)
    yield from kind.refused(frames)


def _switch_words(vswitch: Vswitch) -> str:
    """Return the type of switch, and the keys of its own that are set, as in a study file."""
    factors = SWITCHES[vswitch.kind].factors
    own = [] if factors is None else [f"{k} = {show(v)}" for k, v in factors.changed(vswitch)]
    return ", ".join([f'sut.vswitch.kind = "{vswitch.kind}"', *own])


def _strength_refusals(kind: FaultKind, wanted: InjectedFault) -> Iterator[Fault]:
    if wanted.strength is None:
        return
    if kind.strength is None:
        yield Fault("fault.strength", wanted.strength, f"{kind.name} has no strength: leave it out")
    elif not kind.strength.least <= wanted.strength <= kind.strength.most:
        of = kind.strength
        unit = "" if of.unit == "ratio" else f" {of.unit}"
        allowed = f"must be {of.least:.9g} to {of.most:.9g}{unit} ({of.meaning})"
        yield Fault("fault.strength", wanted.strength, allowed)


def as_built(frames: Frames) -> Frames:
    """Return the point with the settings that cause its fault."""
    if frames.fault is None:
        return frames
    return FAULTS[frames.fault.kind].changed(frames, strength_of(frames.fault))


def as_planned(plan: Plan, facts: HostFacts, frames: Frames) -> Plan:
    """Return the plan of a point with the settings that cause its fault."""
    if frames.fault is None:
        return plan
    kind, strength = FAULTS[frames.fault.kind], strength_of(frames.fault)

    def planned(host: HostPlan) -> HostPlan:
        return kind.planned(host, facts, strength, place_of(frames))

    return replace(plan, hosts=tuple(map(planned, plan.hosts)))


def injections(
    frames: Frames, host: Host, place: Place, wiring: Wiring, parts: Sequence[Part]
) -> tuple[Injection, ...]:
    """Return the actions that cause the point's fault while its bench is up.

    frames: the point as it was built.
    """
    if frames.fault is None:
        return ()
    scene = Scene(
        frames, strength_of(frames.fault), place_of(frames), frames.fault.seed, host, place.dirs,
        place.plan, wiring, parts,
    )  # fmt: skip
    found = FAULTS[frames.fault.kind].injection(scene)
    return () if found is None else (found,)


def opens(frames: Frames) -> bool:
    """Return whether the path passes frames before its fault is injected."""
    return frames.fault is None or FAULTS[frames.fault.kind].opens


def needs_of_fault(frames: Frames) -> tuple[str, ...]:
    """Return the needs of the point's fault on its host."""
    return () if frames.fault is None else FAULTS[frames.fault.kind].needs


def strength_of(wanted: InjectedFault) -> float:
    """Return the requested strength, otherwise the type's default; 0 if the type has none."""
    if wanted.strength is not None:
        return wanted.strength
    strength = FAULTS[wanted.kind].strength
    return 0.0 if strength is None else strength.default


def place_of(frames: Frames) -> str:
    """Return the place of a point's fault. Raises ValueError if the point has no fault."""
    wanted = frames.fault
    if wanted is None:
        raise ValueError("the point has no fault")
    chance = random.Random(wanted.seed)  # noqa: S311
    return wanted.at or chance.choice(FAULTS[wanted.kind].places(frames))
