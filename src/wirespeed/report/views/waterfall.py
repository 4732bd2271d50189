# SPDX-License-Identifier: Apache-2.0
"""Compute the TCP throughput gain of each tuning step, next to what S0 published.

As in S0, a step's rate is that of the best number of streams, with the range over all of them. A
step differs from the previous one in one setting only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from wirespeed.model.result.tcp import TcpResult
from wirespeed.model.study.study import flat
from wirespeed.model.study.tcp import Tcp
from wirespeed.model.words import EMULATED, NONE, gbps
from wirespeed.report.views.published_tcp import PublishedStep, Scenario, Tuning, scenario
from wirespeed.report.views.tcp import parameter_words, tcp_of, tcp_result
from wirespeed.store.records import PointRecord

# Settings that the steps change; a step is the best over the streams.
_STEP_KEYS = ("tcp.offloads", "tcp.queues", "tcp.mtu")
_BEST_OF = "tcp.streams"
# Parameters that the scenario's name already states.
_NAMED = ("tcp.path", "tcp.clients", "tcp.wire_bps")


@dataclass(frozen=True, slots=True)
class Step:
    """One tuning step."""

    tuning: Tuning
    what: str
    """The tuning and its value."""
    lowest_bps: float
    best: TcpResult
    """Result with the number of streams that has the highest rate."""
    streams: int
    published: PublishedStep | None

    @property
    def bps(self) -> float:
        return self.best.total_bps


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Steps of one scenario, at least two, each on top of the one before."""

    name: str
    scenario: Scenario | None
    steps: tuple[Step, ...]

    def gain(self, index: int) -> float | None:
        """Return the gain over the step before.

        None for the first step, or where the step before carried nothing.
        """
        before = self.steps[index - 1].bps if index else 0.0
        return self.steps[index].bps / before if before else None

    def total(self, index: int) -> float | None:
        """Return the gain over the baseline."""
        baseline = self.steps[0].bps
        return self.steps[index].bps / baseline if index and baseline else None


def waterfalls(points: Sequence[PointRecord]) -> tuple[Waterfall, ...]:
    """Return one for each combination of the parameters that are neither a step nor the streams."""
    measured = [point for point in points if tcp_of(point) and tcp_result(point)]
    made = (_waterfall(name, group) for name, group in _groups(measured).items())
    return tuple(waterfall for waterfall in made if len(waterfall.steps) > 1)


def _groups(points: Sequence[PointRecord]) -> dict[str, list[PointRecord]]:
    flattened = [flat(point.parameters) for point in points]
    keys = dict.fromkeys(key for values in flattened for key in values)
    apart = [key for key in keys if key not in (*_STEP_KEYS, _BEST_OF, *_NAMED)]
    # Without a vSwitch its keys are missing, but the path already separates these points.
    varied = [
        key for key in apart if len({str(v[key]) for v in flattened if key in v}) > 1
    ]  # fmt: skip
    groups: dict[str, list[PointRecord]] = {}
    for point, values in zip(points, flattened, strict=True):
        words = [parameter_words(key, values[key]) for key in varied if key in values]
        name = ", ".join([_place(point), *(word for word in words if word)])
        groups.setdefault(name, []).append(point)
    return groups


def _place(point: PointRecord) -> str:
    """Return hosts, what joins them, and their rate."""
    tcp = tcp_of(point)
    assert tcp is not None
    known = scenario(tcp, point.has_vswitch)
    clients = f"{tcp.clients} client{'s' if tcp.clients > 1 else ''}"
    wire = f", {tcp.wire_bps / 1e9:g} Gbps wire" if tcp.wire_bps else ""
    name = known.name if known else clients + wire
    emulated = f" ({EMULATED})" if point.emulated else ""
    return f"{name}, over {tcp.path}{emulated}"


def _waterfall(name: str, group: Sequence[PointRecord]) -> Waterfall:
    specs = [tcp for point in group if (tcp := tcp_of(point))]
    known = scenario(specs[0], group[0].has_vswitch)
    steps: list[Step] = []
    for tuning, what, wanted in _tunings(specs):
        alike = [(tcp, point) for tcp, point in zip(specs, group, strict=True)
                 if (tcp.offloads, tcp.queues, tcp.mtu) == wanted]  # fmt: skip
        found = [(result, tcp.streams) for tcp, p in alike if (result := tcp_result(p))]
        if found:
            best, streams = max(found, key=lambda pair: pair[0].total_bps)
            lowest_bps = min(result.total_bps for result, _ in found)
            done = {step.tuning for step in steps}
            published = known.figure(tuning, done) if known else None
            steps.append(Step(tuning, what, lowest_bps, best, streams, published))
    return Waterfall(name, known, tuple(steps))


def _tunings(specs: Sequence[Tcp]) -> Iterator[tuple[Tuning, str, tuple[bool, int, int]]]:
    """Yield each step that the points vary: short name, full name and settings."""
    offloads = sorted({tcp.offloads for tcp in specs})
    queues = sorted({tcp.queues for tcp in specs})
    mtus = sorted({tcp.mtu for tcp in specs})
    on, queue, mtu = offloads[0], queues[0], mtus[0]
    without = "offloads off" if not on else "offloads on"
    counted = f"{queue} queue{'s' if queue > 1 else ''}"
    yield Tuning.BASELINE, f"{without}, {counted}, MTU {mtu}", (on, queue, mtu)
    if len(offloads) > 1:
        on = True
        yield Tuning.OFFLOADS, "TSO, GSO and GRO on", (on, queue, mtu)
    if len(queues) > 1:
        queue = queues[-1]
        yield Tuning.QUEUES, f"{queue} queues", (on, queue, mtu)
    if len(mtus) > 1:
        mtu = mtus[-1]
        yield Tuning.MTU, f"MTU {mtu}", (on, queue, mtu)


def times(factor: float | None) -> str:
    """Format a gain, e.g. 2.4x, 12x; below 1 it is a loss."""
    if factor is None:
        return NONE
    decimals = 0 if factor >= 10 else 1 if factor >= 1 else 2
    return f"{factor:.{decimals}f}x"


def published_rate(step: PublishedStep | None) -> str:
    """Format S0's Gbps, as a range where it depends on the number of streams."""
    if step is None:
        return NONE
    if step.lowest_bps == step.highest_bps:
        return f"{step.highest_bps / 1e9:g}"
    return f"{step.lowest_bps / 1e9:g} - {step.highest_bps / 1e9:g}"


def cpu_ms(cpu_s: float | None) -> str:
    """Format CPU time for each Gbit."""
    return NONE if cpu_s is None else f"{cpu_s * 1e3:.1f}"


def waterfall_table(found: Waterfall) -> Table:
    """Return the steps as a table for a terminal."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.title, table.title_justify = found.name, "left"
    table.add_column("step")
    for heading in ("Gbps", "step", "so far", "S0 Gbps", "S0 says", "server", "clients",
                    "vSwitch ms/Gbit"):  # fmt: skip
        table.add_column(heading, justify="right")
    for index, step in enumerate(found.steps):
        table.add_row(
            step.what,
            gbps(step.bps),
            times(found.gain(index)),
            times(found.total(index)),
            published_rate(step.published),
            times(step.published.said if step.published else None),
            cpu_ms(step.best.server_cpu_s_per_gbit),
            cpu_ms(step.best.clients_cpu_s_per_gbit),
            cpu_ms(step.best.vswitch_cpu_s_per_gbit),
        )
    return table
