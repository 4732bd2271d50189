# SPDX-License-Identifier: Apache-2.0
"""Sort the series of a recording into the lanes of the page, by their stable names.

A lane has lines; a line is one series, or a sum or a share of several series of one source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.result.recording import RecordedSeries
from wirespeed.model.result.series import SeriesKind


class Form(StrEnum):
    """Rule by which a line's value is computed from rates of counters and levels of gauges."""

    SUM = "sum"
    """Sum of the members, times the factor."""
    SHARE = "share"
    """Members over members and rest, times the factor."""
    OF = "of"
    """Members over rest, times the factor."""


@dataclass(frozen=True, slots=True)
class Line:
    label: str
    members: tuple[int, ...]
    """Numbers of the series."""
    factor: float = 1.0
    form: Form = Form.SUM
    rest: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Lane:
    name: str
    unit: str
    lines: tuple[Line, ...]
    top: float | None = None
    """Upper end of its axis; None: the most that is shown."""
    loss: bool = False
    """Anything above 0 is a loss."""
    gates: bool = False
    """Trials are drawn above it, with what their gates excluded."""


@dataclass(slots=True)
class _Rule:
    """Series of one lane."""

    keys: tuple[str, ...]
    factor: float = 1.0
    form: Form = Form.SUM
    rest: tuple[str, ...] = ()
    joined: bool = False
    """All keys of the same labels are one line; otherwise each series is a line."""


# Nanoseconds a second to per cent.
_PERCENT_OF_NS = 1e-7
_CPU_TIMES = ("user", "nice", "system", "irq", "softirq", "steal")
_LOST = ("dropped", "missed", "no_buffer", "error", "discard", "tx_fail", "lost_upcalls")
_PORTS = (
    "port_packets", "device_rx_packets", "device_tx_packets", "ethdev_rx_packets",
    "ethdev_tx_packets", "task_rx_packets", "task_tx_packets", "interface_packets",
)  # fmt: skip
_NOISE = "Noise"
_LANES: tuple[tuple[str, str, float | None, tuple[_Rule, ...]], ...] = (
    ("CPU busy", "%", 100.0, (
        _Rule(tuple(f"cpu_{kind}_seconds" for kind in _CPU_TIMES), _PERCENT_OF_NS, joined=True),
    )),
    ("PMD and lcore busy", "%", 100.0, (
        _Rule(("pmd_busy_cycles",), 100.0, Form.SHARE, ("pmd_idle_cycles",)),
        _Rule(("lcore_busy_seconds",), 100.0, Form.OF, ("lcore_seconds",)),
        _Rule(("eal_lcore_busy_cycles",), 100.0, Form.OF, ("eal_lcore_cycles",)),
    )),
    ("Packets", "Mpps", None, (_Rule(_PORTS, 1e-6),)),
    ("Drops by cause", "packets/s", None, ()),
    ("Queues", "packets", None, (_Rule(("ring_used",)), _Rule(("upcall_flows",)))),
    ("Latency since the start of the trial", "\N{MICRO SIGN}s", None, (
        _Rule(("task_latency_seconds",), 1e-3),
    )),
    (f"{_NOISE}: time taken away", "%", 100.0, (
        _Rule(("cpu_steal_seconds", "thread_wait_seconds"), _PERCENT_OF_NS),
    )),
    (f"{_NOISE}: interrupts and switches", "1/s", None, (
        _Rule(("cpu_interrupts",), joined=True), _Rule(("thread_switches",)),
    )),
    ("Placement of threads", "CPU", None, (_Rule(("thread_cpu", "guest_thread_cpu")),)),
    ("Price of recording", "% of a CPU", None, (
        _Rule(("collector_cpu_seconds",), _PERCENT_OF_NS),
    )),
    ("Free buffers and pages", "1", None, (_Rule(("mempool_free", "huge_pages_free")),)),
)  # fmt: skip
DROPS = "Drops by cause"
# Labels that tell which of several kinds of one thing a joined line sums up.
_SUMMED = ("kind",)


def lanes_of(series: Sequence[RecordedSeries]) -> tuple[Lane, ...]:
    """Return the lanes that have a line. Series that are in none are in the page's table alone."""
    found = []
    for name, unit, top, rules in _LANES:
        lines = tuple(_lost(series)) if name == DROPS else tuple(_lines(series, rules))
        if lines:
            gates = name.startswith(_NOISE)
            found.append(Lane(name, unit, lines, top, loss=name == DROPS, gates=gates))
    return tuple(found)


def members(lanes: Sequence[Lane]) -> tuple[int, ...]:
    """Return the numbers of all series that a lane shows, ascending."""
    return tuple(
        sorted({n for lane in lanes for line in lane.lines for n in (*line.members, *line.rest)})
    )


def _lines(series: Sequence[RecordedSeries], rules: Sequence[_Rule]) -> Iterator[Line]:
    for rule in rules:
        rests = _grouped(series, rule.rest, rule)
        for group, numbers in _grouped(series, rule.keys, rule).items():
            rest = rests.get(group, [])
            if rule.form is Form.SUM or rest:
                label = _label(series[numbers[0]], rule)
                yield Line(label, tuple(numbers), rule.factor, rule.form, tuple(rest))


def _grouped(
    series: Sequence[RecordedSeries], keys: Sequence[str], rule: _Rule
) -> dict[tuple[object, ...], list[int]]:
    """Return the numbers of the series of these keys, those of one line together."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, each in enumerate(series):
        if each.key in keys:
            groups.setdefault(_group(each, rule), []).append(number)
    return groups


def _lost(series: Sequence[RecordedSeries]) -> Iterator[Line]:
    for number, each in enumerate(series):
        counts = each.kind is SeriesKind.COUNTER and each.unit == "packets"
        if counts and any(word in each.key for word in _LOST):
            yield Line(_label(each, _Rule((each.key, ""))), (number,))


def _group(each: RecordedSeries, rule: _Rule) -> tuple[object, ...]:
    if rule.joined:
        return each.source, tuple(pair for pair in each.labels if pair[0] not in _SUMMED)
    if rule.rest:
        return each.source, each.labels
    return each.source, each.key, each.labels


def _label(each: RecordedSeries, rule: _Rule) -> str:
    """Return the labels' values, after the name where a lane has several."""
    hidden = _SUMMED if rule.joined else ()
    words = [
        f"CPU {value}" if name == "cpu" else value
        for name, value in each.labels
        if name not in hidden and value
    ]
    if len(rule.keys) > 1 and not rule.joined:
        words.insert(0, each.key.removesuffix("_packets").removesuffix("_seconds"))
    return " ".join(words) or each.key
