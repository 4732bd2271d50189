# SPDX-License-Identifier: Apache-2.0
"""Group interchangeable hosts into classes, and find the best class for a unit.

A class is a shape and a use. A unit is judged once per class, regardless of the number of hosts in
it. A host that takes guests moves to another class, which may be new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Protocol

from wirespeed.plan.placement.fit import fit
from wirespeed.plan.placement.host import Fit, HostShape, HostUse
from wirespeed.plan.placement.request import GuestRequest
from wirespeed.plan.placement.take import take

Score = Callable[[HostShape, HostUse, Sequence[GuestRequest]], float]


class Host(Protocol):
    @property
    def shape(self) -> HostShape: ...
    @property
    def use(self) -> HostUse: ...


class UnitLike(Protocol):
    @property
    def kind(self) -> int: ...
    @property
    def requests(self) -> tuple[GuestRequest, ...]: ...
    @property
    def anti_affinity(self) -> frozenset[str]: ...


class Judged:
    """Fitting classes for one kind of unit, by score; `count` is the number of judged classes."""

    __slots__ = ("count", "fits", "heap")

    def __init__(self) -> None:
        self.heap: list[tuple[float, int]] = []
        self.fits: dict[int, tuple[tuple[Fit, ...], HostUse]] = {}
        self.count = 0


class Classes:
    """All hosts, grouped into classes. Class numbers only grow; empty classes are skipped."""

    def __init__(self, hosts: Sequence[Host], score: Score) -> None:
        self._score = score
        self._numbers: dict[tuple[int, HostUse], int] = {}
        self._keys: list[tuple[int, HostUse]] = []
        self._members: list[list[int]] = []
        self._shapes: list[HostShape] = []
        self._class_of: list[int] = []
        self._judged: dict[int, Judged] = {}
        shape_numbers: dict[HostShape, int] = {}
        for index, host in enumerate(hosts):
            shape = shape_numbers.setdefault(host.shape, len(shape_numbers))
            if shape == len(self._shapes):
                self._shapes.append(host.shape)
            self._class_of.append(self._join(index, (shape, host.use)))

    def best(self, unit: UnitLike) -> int | None:
        """Return the fitting class with hosts that has the lowest score; None if none fits."""
        judged = self._judge(unit)
        while judged.heap:
            number = judged.heap[0][1]
            if self._members[number]:
                return number
            heappop(judged.heap)
            del judged.fits[number]
        return None

    def fitting(self, unit: UnitLike) -> list[int]:
        """Return every class with hosts that fits the unit, oldest first."""
        judged = self._judge(unit)
        return [number for number in judged.fits if self._members[number]]

    def shape(self, number: int) -> HostShape:
        return self._shapes[self._keys[number][0]]

    def use(self, number: int) -> HostUse:
        return self._keys[number][1]

    def first_host(self, number: int) -> int:
        """Return the class's host with the lowest number."""
        return self._members[number][0]

    def take(self, unit: UnitLike, number: int) -> tuple[int, tuple[Fit, ...]]:
        """Place the unit on the first host of a fitting class; return the host and the places."""
        host = heappop(self._members[number])
        places, use = self._judged[unit.kind].fits[number]
        self._class_of[host] = self._join(host, (self._keys[number][0], use))
        return host, places

    def uses(self) -> tuple[HostUse, ...]:
        """Return the use of each host, in the order in which the hosts were given."""
        return tuple(self._keys[number][1] for number in self._class_of)

    def _join(self, host: int, key: tuple[int, HostUse]) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._keys)
            self._keys.append(key)
            self._members.append([])
        elif not self._members[number]:
            # Kinds that found the class empty have dropped it, so it becomes a new class.
            number = self._numbers[key] = len(self._keys)
            self._keys.append(key)
            self._members.append([])
        heappush(self._members[number], host)
        return number

    def _judge(self, unit: UnitLike) -> Judged:
        """Judge the unit's kind on every class that is new since the last call."""
        judged = self._judged.setdefault(unit.kind, Judged())
        for number in range(judged.count, len(self._keys)):
            if not self._members[number]:
                continue
            placed = self._try(unit, number)
            if placed is not None:
                judged.fits[number] = placed
                score = self._score(self.shape(number), placed[1], unit.requests)
                heappush(judged.heap, (score, number))
        judged.count = len(self._keys)
        return judged

    def _try(self, unit: UnitLike, number: int) -> tuple[tuple[Fit, ...], HostUse] | None:
        """Return the places of all guests of the unit on a class, and the use afterwards."""
        shape, use = self.shape(number), self.use(number)
        if unit.anti_affinity & use.groups:
            return None
        places = []
        for request in unit.requests:
            place = fit(shape, use, request)
            if place is None:
                return None
            use = take(shape, use, request, place, unit.anti_affinity)
            places.append(place)
        return tuple(places), use
