# SPDX-License-Identifier: Apache-2.0
"""Change routes while frames are offered: withdraw groups of prefixes and announce them again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial

from wirespeed.bench.host.process import await_true
from wirespeed.bench.interface import Part, Step
from wirespeed.bench.routing.part import LoadsRoutes
from wirespeed.model.result.route_churn import RouteChurn

# Longest time until all agree after the last change, in addition to that of loading all routes.
_SETTLE_S = 30.0
_LOOK_S = 0.05


class Churn:
    """Changes of a router's routes at a steady rate, as an injection.

    Every second change withdraws a group, and the next one announces it, so at most one group is
    withdrawn at a time, and none after a trial.
    """

    def __init__(self, name: str, source: LoadsRoutes) -> None:
        self._name, self._source, self._routes = name, source, source.routes
        self._groups = self._routes.table.churned
        self._begin_trial()

    def _begin_trial(self) -> None:
        self._withdrawn: list[int] = []
        self._changes, self._late_s, self._ended_s = 0, 0.0, 0.0
        self._begun_s: float | None = None

    def up(self) -> None:
        """Do nothing: routes change in trials alone."""

    def begin(self) -> None:
        self._begin_trial()

    def steps(self, duration_s: float) -> Sequence[Step]:
        """Return the changes during traffic, by time."""
        per_s = self._routes.table.routing.churn_per_s
        every_s = len(self._groups[0]) / per_s
        count = int(duration_s / every_s)
        return [(i * every_s, partial(self._act, i, i * every_s, duration_s)) for i in range(count)]

    def _act(self, number: int, due_s: float, duration_s: float) -> None:
        now_s = time.monotonic()
        if self._begun_s is None:
            self._begun_s = now_s - due_s
        late_s = now_s - self._begun_s - due_s
        self._late_s = max(self._late_s, late_s)
        if due_s + late_s >= duration_s:
            return  # the traffic is over
        if self._withdrawn:
            self.announce()
        else:
            self.withdraw(number // 2 % len(self._groups))

    def withdraw(self, *groups: int) -> None:
        """Withdraw groups of routes."""
        for group in groups:
            self._withdrawn.append(group)
            self._change(group, announces=False)

    def announce(self) -> None:
        """Announce all that is withdrawn."""
        for group in self._withdrawn:
            self._change(group, announces=True)
        self._withdrawn = []

    def _change(self, group: int, *, announces: bool) -> None:
        self._routes.change(group, announces=announces)
        self._changes += len(self._groups[group])

    def rest(self) -> None:
        """Announce what is withdrawn."""
        self.announce()
        self._ended_s = time.monotonic()

    def settle(self) -> RouteChurn:
        """Wait until kernel and router agree; see interface.ChangesRoutes."""
        looked_s, missing = 0.0, "its routes"

        def agrees() -> bool:
            nonlocal looked_s, missing
            looked_s = time.monotonic()
            missing = self._source.missing()
            return not missing

        await_true(
            agrees,
            within_s=_SETTLE_S + self._source.ready_s,
            every_s=_LOOK_S,
            alive=self._alive,
            otherwise=lambda: f"{self._name}: after changes of routes it waits for {missing}",
        )
        return RouteChurn(self._changes, self._late_s, looked_s - self._ended_s)

    def _alive(self) -> str | None:
        return self._routes.alive()

    def down(self) -> None:
        """Do nothing: no route is withdrawn between trials."""


def route_changes(parts: Iterable[Part]) -> tuple[Churn, ...]:
    """Return the changes of the routes of these components."""
    return tuple(
        Churn(part.name, part)
        for part in parts
        if isinstance(part, LoadsRoutes) and part.routes.table.churned
    )
