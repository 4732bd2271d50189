# SPDX-License-Identifier: Apache-2.0
"""Compare the share of line rate in S4's cases, in tables with S4's layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wirespeed.model.study.spec import Frames
from wirespeed.model.units import line_rate_fps
from wirespeed.model.words import NONE, microseconds, percent
from wirespeed.published.tables import TABLES, rates, s4_search, s4_titles
from wirespeed.report.papers.agreement import compare_curves, compare_ratio
from wirespeed.report.papers.interface import Agreement, Beside, Said, Table
from wirespeed.report.papers.panel import beside_chart
from wirespeed.report.papers.reading import FULL, Reading
from wirespeed.report.views.figures import rate
from wirespeed.store.records import PointRecord, RunRecord

_LINK_BPS = 10e9
_DIRECTIONS = 2
# S4's names of its published tables.
_CASES = {"host-l2fwd": "1.1", "vm-l2fwd-sriov": "3.1", "host-ovs-l2fwd": "2.1"}
# Rate that S4 gives for Open vSwitch without DPDK at 64 octets.
_LINUX_64_FPS = 2e6
_ROUTER = "l3fwd"

Shares = Mapping[tuple[str, int], float]


def case_of(frames: Frames) -> str | None:
    """Return the number of S4's case that the point repeats; none for "Linux L2" and "L3"."""
    routes = frames.sut.vnf.kind == _ROUTER
    kind, switch = frames.topology.kind, frames.sut.vswitch.kind
    if kind == "p2p" and frames.sut.vswitch.ovs.routes:
        return "2.2"
    if kind == "p2p":
        cases = {"ovs-dpdk": "2.1", "linux-bridge": "Linux L2", "linux-router": "Linux L3"}
        return cases.get(switch)
    if kind in ("host", "sriov"):
        number = "1" if kind == "host" else "3"
        return f"{number}.{2 if routes else 1}"
    return {"pvp": "4.1", "chain": "4.2", "parallel": "4.3"}.get(kind) if routes else None


def published_shares() -> Shares:
    """Return shares of line rate by case and size."""
    return {
        (_CASES[rate.label.partition(",")[0]], rate.frame_bytes): min(
            1.0, rate.rate_fps / _DIRECTIONS / line_rate_fps(_LINK_BPS, rate.frame_bytes)
        )
        for rate in rates("s4")
    }


def beside(run: RunRecord, reading: Reading) -> Beside:
    places: dict[tuple[str, int], PointRecord] = {}
    for point in run.points:
        if (case := case_of(point.frames)) is not None:
            places[case, point.frames.traffic.frame.sizes[0]] = point
    ours = {
        place: share.low
        for place, point in places.items()
        if (share := reading.lossless(point)) is not None and share.low > 0
    }
    cases = list(dict.fromkeys(case for case, _ in places))
    theirs = published_shares()
    return Beside(
        TABLES["s4"],
        (*_curves(cases, places, (ours, theirs), reading), *ratios(ours, theirs, reading.where)),
        (throughput(places, theirs, reading), latency(places), _search(), _titles()),
        tuple(
            beside_chart(
                f"s4-{case.replace(' ', '-')}", f"Case {case}", ("octets", "% of line rate"),
                (reading.where, "S4"),
                [
                    (str(size), _times(100, ours.get((case, size))),
                     _times(100, theirs.get((case, size))))
                    for at, size in places if at == case
                ],
            )
            for case in cases if any(at == case for at, _ in ours)
        ),
    )  # fmt: skip


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value


def _curves(
    cases: list[str],
    places: Mapping[tuple[str, int], PointRecord],
    shares: tuple[Shares, Shares],
    reading: Reading,
) -> Iterator[Said]:
    """Yield one sentence for each case over its frame sizes. shares: ours and theirs."""
    (ours, theirs), where = shares, reading.where
    for case in cases:
        sizes = sorted(size for at, size in places if at == case)
        found = [size for size in sizes if (case, size) in ours]
        here = [ours[case, size] for size in found]
        listed = ", ".join(f"{percent(share)} at {s}" for s, share in zip(found, here, strict=True))
        if not found:
            yield Said(Agreement.OPEN, f"{case}: {reading.missing(places[case, sizes[0]])}")
        elif (case, found[0]) not in theirs:
            yield Said(Agreement.OPEN, f"{case}: S4 publishes no figure; {where} {listed} octets")
        elif min(here) >= FULL:
            there = [theirs[case, size] for size in found]
            full = min(there) >= FULL
            sentence = f"{case}: line rate {where} at every size, in S4 from {percent(min(there))}"
            yield Said(Agreement.AGREES if full else Agreement.DIFFERS, sentence)
        else:
            there = [theirs[case, size] for size in found]
            why = reading.differs(places[case, found[0]])
            what = f"{case}, share of line rate by size"
            yield compare_curves(what, "size", (where, "S4"), (here, there), why)


def ratios(ours: Shares, theirs: Shares, where: str) -> Iterator[Said]:
    """Yield comparisons of two cases at 64 octets, as S4 makes them."""
    size = 64
    linux = _LINUX_64_FPS / _DIRECTIONS / line_rate_fps(_LINK_BPS, size)
    known = {**theirs, ("Linux L2", size): linux}
    for what, one, other in (
        ("Open vSwitch next to host forwarding", "2.1", "1.1"),
        ("SR-IOV next to host forwarding", "3.1", "1.1"),
        ("Open vSwitch with DPDK next to plain Linux", "2.1", "Linux L2"),
    ):
        if (one, size) in ours and (other, size) in ours:
            yield compare_ratio(
                f"{what}, {size} B", (where, "S4"),
                ours[one, size] / ours[other, size], known[one, size] / known[other, size],
            )  # fmt: skip


def throughput(
    places: Mapping[tuple[str, int], PointRecord], theirs: Shares, reading: Reading
) -> Table:
    """Return S4's columns, and its throughput next to ours."""
    headings = (
        "Case", "Frame size (bytes)", f"Throughput {reading.where} (%)",
        "Aggregated throughput (fps)", "Aggregated theoretical max (fps)",
        "Aggregated throughput (Mbps)", "S4 throughput (%)",
    )  # fmt: skip
    rows = tuple(
        (case, str(size), *_throughput(point, reading), percent(theirs.get((case, size)), 3))
        for (case, size), point in places.items()
    )
    return Table("Throughput", headings, rows, keys=2)


def _throughput(point: PointRecord, reading: Reading) -> tuple[str, ...]:
    share, most_fps = reading.lossless(point), point.frames.line_rate_fps
    most = f"{most_fps:,.0f}"
    if share is None or not share.low:
        why = reading.missing(point) if share is None else share.words
        return why, NONE, most, NONE
    found = rate(share.low * most_fps, point.frames)
    return share.words, f"{found.fps:,.0f}", most, f"{found.l1_bps / 1e6:,.0f}"


def latency(places: Mapping[tuple[str, int], PointRecord]) -> Table:
    """Return latency at the highest load where it was measured: 90% of the PDR.

    Jitter is the inter-arrival jitter of RFC 3550. The spread that S4 calls maximum jitter is the
    PDV.
    """
    headings = (
        "Case", "Frame size (bytes)", "Load (%)", "Min latency (uSec)", "Avg latency (uSec)",
        "Max latency (uSec)", "Avg jitter (uSec)", "PDV (uSec)",
    )  # fmt: skip
    rows = []
    for (case, size), point in places.items():
        found = point.result.latency if point.result is not None else ()
        for at in found[-1:]:
            seen = at.undisturbed or at.latency
            times = (seen.min_ns, seen.avg_ns, seen.max_ns, seen.jitter_ns, seen.pdv_ns)
            load = percent(at.load_fps / point.frames.line_rate_fps)
            rows.append((case, str(size), load, *map(microseconds, times)))
    return Table("Latency and jitter", headings, tuple(rows))


def _titles() -> Table:
    """Return the charts that S4 closes with; without their figures nothing can be compared."""
    headings = ("Chart (only its title survived)", "Throughput S4", "Studies here")
    rows = tuple((title, NONE, studies) for title, studies in s4_titles())
    return Table("6WIND DPDK-based application benchmarks", headings, rows)


def _search() -> Table:
    """Return S4's own latency table, for its layout: it has no other latencies."""
    headings = (
        "Intended load (%)", "Offered load (%)", "Min frame loss (%)", "Min latency (uSec)",
        "Avg latency (uSec)", "Max latency (uSec)", "Min jitter (uSec)", "Avg jitter (uSec)",
        "Max jitter (uSec)",
    )  # fmt: skip
    return Table("S4's search at 64 bytes on the host (1.1)", headings, tuple(
        (f"{trial.intended:g}", f"{trial.offered:g}", f"{trial.loss:.2g}",
         *(f"{value:g}" for value in (*trial.latency_us, *trial.jitter_us)))
        for trial in s4_search()
    ))  # fmt: skip
