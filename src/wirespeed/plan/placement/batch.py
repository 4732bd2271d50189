# SPDX-License-Identifier: Apache-2.0
"""Place all guests on hosts, considering all of them together.

Several passes place all guests. They differ in the order of guests and in the preference among
fitting hosts. The pass that places the most guests wins; among equals, the earliest. One pass
follows Nova: guests in the listed order, Nova's default weighers. The result is not claimed to be
optimal. Equal hosts with equal use are judged once (classes.py). The result depends on the input
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wirespeed.model.plan.host_rules import Objective
from wirespeed.plan.placement.classes import Classes
from wirespeed.plan.placement.host import Fit, HostShape, HostUse
from wirespeed.plan.placement.request import GuestRequest
from wirespeed.plan.placement.weigh import nova_choice, size_of, tight_score

# Above this number of (host, guest) pairs a plan takes one pass, and one more if guests are left.
THOROUGH_PAIRS = 400_000


@dataclass(frozen=True, slots=True)
class PlacementHost:
    name: str
    shape: HostShape
    use: HostUse


@dataclass(frozen=True, slots=True)
class Unit:
    """Guests that must share a host (an affinity group), or one single guest."""

    kind: int
    """Same for units with equal requests and groups."""
    guests: tuple[int, ...]
    """Numbers in the list of requested guests."""
    requests: tuple[GuestRequest, ...]
    anti_affinity: frozenset[str] = frozenset()
    """Anti-affinity groups of the guests."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A guest's number, its host's number, and its place there."""

    guest: int
    host: int
    place: Fit


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a pass."""

    placed: tuple[Placed, ...]
    """Guests in the order of placing."""
    unplaced: tuple[int, ...]
    uses: tuple[HostUse, ...]
    """One entry per host."""


Order = Callable[[Sequence[Unit], Sequence[PlacementHost]], list[Unit]]


def place_all(
    hosts: Sequence[PlacementHost], units: Sequence[Unit], objective: Objective = Objective.PACK
) -> Outcome:
    """Place all units, or as many guests as the best pass can."""
    guests = sum(len(unit.guests) for unit in units)
    thorough = len(hosts) * guests <= THOROUGH_PAIRS
    best: Outcome | None = None
    for order, nova in _passes(objective, thorough):
        run = _nova_pass if nova else _tight_pass
        outcome = run(hosts, order(units, hosts))
        if best is None or len(outcome.placed) > len(best.placed):
            best = outcome
        if not best.unplaced:
            break
    if best is None:
        raise AssertionError("there is always a first pass")
    return best


def _passes(objective: Objective, thorough: bool) -> list[tuple[Order, bool]]:
    """Return the order of guests of each pass, the preferred pass first.

    The flag tells whether Nova's weighers choose the host, instead of the tightest fit.
    """
    pack: list[tuple[Order, bool]] = [(_hardest_first, False), (_smallest_first, False)]
    if not thorough:
        return pack
    nova: list[tuple[Order, bool]] = [
        (_as_listed, True),
        (_hardest_first, True),
        (_smallest_first, True),
    ]
    more: list[tuple[Order, bool]] = [
        (_as_listed, False),
        (_special_first, False),
        (_special_first, True),
    ]
    if objective is Objective.SPREAD:
        return [*nova[1:], nova[0], *pack, *more]
    return [*pack, *more, *nova]


def _as_listed(units: Sequence[Unit], _hosts: Sequence[PlacementHost]) -> list[Unit]:
    return list(units)


def _hardest_first(units: Sequence[Unit], hosts: Sequence[PlacementHost]) -> list[Unit]:
    """Return the guests with the largest share of a host first; equal kinds stay together."""
    sizes = _sizes(units, hosts)
    return sorted(units, key=lambda unit: (-sizes[unit.kind], unit.kind))


def _smallest_first(units: Sequence[Unit], hosts: Sequence[PlacementHost]) -> list[Unit]:
    sizes = _sizes(units, hosts)
    return sorted(units, key=lambda unit: (sizes[unit.kind], unit.kind))


def _special_first(units: Sequence[Unit], hosts: Sequence[PlacementHost]) -> list[Unit]:
    """Return the guests that few hosts can take first, then the smallest."""
    sizes = _sizes(units, hosts)

    def key(unit: Unit) -> tuple[int, float, int]:
        special = sum(
            len(r.devices) + len(r.labels) + len(r.forbidden_labels) + len(r.cells) - 1
            for r in unit.requests
        )
        return (-special, sizes[unit.kind], unit.kind)

    return sorted(units, key=key)


def _sizes(units: Sequence[Unit], hosts: Sequence[PlacementHost]) -> dict[int, float]:
    """Return for each kind the share of an average host that it needs."""
    shapes = [host.shape for host in hosts]
    requests = {unit.kind: unit.requests for unit in units}
    return {kind: size_of(guests, shapes) for kind, guests in requests.items()}


def _tight_pass(hosts: Sequence[PlacementHost], units: Sequence[Unit]) -> Outcome:
    """Place each unit on the host where it leaves the least unused."""
    classes = Classes(hosts, tight_score)
    placed: list[Placed] = []
    unplaced: list[int] = []
    for unit in units:
        found = classes.best(unit)
        _note(classes, unit, found, placed, unplaced)
    return Outcome(tuple(placed), tuple(unplaced), classes.uses())


def _nova_pass(hosts: Sequence[PlacementHost], units: Sequence[Unit]) -> Outcome:
    """Place each unit on the host that Nova's default weighers prefer."""
    classes = Classes(hosts, tight_score)
    placed: list[Placed] = []
    unplaced: list[int] = []
    for unit in units:
        found = nova_choice(classes.fitting(unit), classes)
        _note(classes, unit, found, placed, unplaced)
    return Outcome(tuple(placed), tuple(unplaced), classes.uses())


def _note(
    classes: Classes, unit: Unit, found: int | None, placed: list[Placed], unplaced: list[int]
) -> None:
    if found is None:
        unplaced.extend(unit.guests)
        return
    host, places = classes.take(unit, found)
    for guest, place in zip(unit.guests, places, strict=True):
        placed.append(Placed(guest, host, place))
