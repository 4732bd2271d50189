# SPDX-License-Identifier: Apache-2.0
"""Report points with TCP traffic: rates, what limited them, and the gain of offloads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.result.tcp import TcpFigure, TcpResult
from wirespeed.model.study.spec import TcpStreams
from wirespeed.model.study.study import flat
from wirespeed.model.study.sut import SutDescription
from wirespeed.model.study.tcp import Tcp
from wirespeed.model.words import NONE, gbps, percent
from wirespeed.store.records import PointRecord, RunRecord


def tcp_of(point: PointRecord) -> Tcp | None:
    """Return the TCP settings of a point; None for another workload."""
    return point.workload.tcp if isinstance(point.workload, TcpStreams) else None


def tcp_points(run: RunRecord) -> tuple[PointRecord, ...]:
    """Return the points that measured TCP."""
    return tuple(point for point in run.points if tcp_of(point) is not None)


def tcp_result(point: PointRecord) -> TcpResult | None:
    return None if point.result is None else point.result.tcp


def why_missing(point: PointRecord) -> str:
    """Return why a point has no rate."""
    if point.result is not None:
        return f"not measurable: {point.result.not_measurable}"
    return point.error or "not measured yet"


def undisturbed(figure: TcpFigure) -> str:
    """Return the clean rate in Gbps, with its error."""
    if figure.undisturbed_bps is None:
        return NONE
    error = f" +- {gbps(figure.undisturbed_error_bps)}" if figure.undisturbed_error_bps else ""
    return gbps(figure.undisturbed_bps) + error


def tcp_remarks(found: SearchResult, sut: SutDescription | None) -> Iterator[str]:
    """Yield both rates of each direction, the RFC 6349 metrics, and CPU time by program."""
    if found.not_measurable is not None:
        yield f"Not measurable: {found.not_measurable}."
        return
    if found.tcp is not None:
        yield from (_both_rates(found, figure) for figure in found.tcp.figures)
        if found.grade is not Grade.A:
            yield from (f"{why[:1].upper()}{why[1:]}." for why in found.because)
        yield from _of_runs(found.tcp, sut)
    yield from (f"{note[:1].upper()}{note[1:]}." for note in found.notes)


def _both_rates(found: SearchResult, figure: TcpFigure) -> str:
    """Format both rates.

    "Down: 6.07 +- 0.61 Gbps in clean time (grade C); all time, 5.43 (5.11 to 5.76)."
    """
    direction = str(figure.direction).capitalize()
    as_is = f"{gbps(figure.median_bps)} ({gbps(figure.lowest_bps)} to {gbps(figure.highest_bps)})"
    grade = f" (grade {found.grade})" if found.grade else ""
    if figure.undisturbed_bps is None:
        return f"{direction}: all time, {as_is} Gbps{grade}; no clean time."
    return f"{direction}: {undisturbed(figure)} Gbps in clean time{grade}; all time, {as_is}."


def _of_runs(result: TcpResult, sut: SutDescription | None) -> Iterator[str]:
    for figure in result.figures:
        if figure.tcp_efficiency_percent is not None:
            yield _rfc6349(figure)
    parts = [("server", result.server_cpu_s_per_gbit), ("clients", result.clients_cpu_s_per_gbit)]
    if result.vswitch_cpu_s_per_gbit is not None:
        parts.append((sut.name if sut else "vSwitch", result.vswitch_cpu_s_per_gbit))
    spent = ", ".join(f"{name} {cpu_s * 1e3:.1f} ms" for name, cpu_s in parts)
    yield f"CPU time of the programs for each Gbit: {spent}."
    if (taken := most_taken(result)) is not None:
        yield f"Steal and competing processes took at most {percent(taken)} of a run."
    if result.discarded:
        failed = len(result.discarded)
        runs = "run" if failed == 1 else "runs"
        yield f"{failed} {runs} failed; the last: {result.discarded[-1]}."


def most_taken(result: TcpResult) -> float | None:
    """Return the largest share of a run that steal and competing processes took.

    It is the share taken from server, clients or vSwitch. None where that was not observed.
    """
    return max((run.taken_ratio(p) for run in result.runs for p in run.programs), default=None)


def _rfc6349(figure: TcpFigure) -> str:
    efficiency = f"TCP efficiency {figure.tcp_efficiency_percent:.2f}%"
    ratio = figure.transfer_time_ratio
    delay = figure.buffer_delay_percent
    words = [
        efficiency,
        *([f"transfer time ratio {ratio:.2f}"] if ratio is not None else []),
        *([f"buffer delay {percent(delay / 100, 0)}"] if delay is not None else []),
    ]
    return f"RFC 6349: {', '.join(words)}."


@dataclass(frozen=True, slots=True)
class Gain:
    """Two points that differ only in their offloads."""

    what: str
    """Parameters that they share and other points of the run do not."""
    off_bps: float
    on_bps: float

    @property
    def factor(self) -> float | None:
        return self.on_bps / self.off_bps if self.off_bps else None


def offload_gains(points: tuple[PointRecord, ...]) -> tuple[Gain, ...]:
    """Return the gain of TSO, GSO and GRO, for each pair of points with and without."""
    key = "tcp.offloads"
    flattened = [flat(point.parameters) for point in points]
    varied = [
        name
        for name in dict.fromkeys(name for values in flattened for name in values)
        if name != key and len({str(values.get(name)) for values in flattened}) > 1
    ]
    pairs: dict[str, dict[bool, float]] = {}
    for point, values in zip(points, flattened, strict=True):
        result = tcp_result(point)
        # sut.vswitch only shows that there is a vSwitch.
        words = [
            parameter_words(name, values.get(name)) for name in varied if name.startswith("tcp.")
        ]
        if result is not None:
            what = ", ".join(word for word in words if word) or "TCP"
            pairs.setdefault(what, {})[bool(values[key])] = result.total_bps
    return tuple(
        Gain(what, rates[False], rates[True]) for what, rates in pairs.items() if len(rates) == 2
    )


def parameter_words(name: str, value: object) -> str:
    """Format a parameter that differs between points, e.g. "streams 4"."""
    if name == "tcp.path":
        return f"over {value}"
    if name == "tcp.wire_bps":
        return f"{float(str(value)) / 1e9:g} Gbps wire" if value else ""
    if isinstance(value, bool):
        value = "on" if value else "off"
    return f"{name.rpartition('.')[2]} {value}"
