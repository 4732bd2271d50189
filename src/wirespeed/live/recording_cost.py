# SPDX-License-Identifier: Apache-2.0
"""Compute what a recording cost, and test the losses that fall into its reads; in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from wirespeed.measure.read_losses import LostWindows, ReadLosses, losses_in_reads
from wirespeed.model.result.recording import NO_VALUE, Mark, MarkKind
from wirespeed.model.result.series import OFFERED, RECEIVED
from wirespeed.model.words import counted
from wirespeed.store import recordings
from wirespeed.store.read import read_run
from wirespeed.store.recording_price import read_times
from wirespeed.store.recordings import RecordingSummary
from wirespeed.store.series import moments_and_values
from wirespeed.store.store import Store

# Source that the sampler has of itself (kpi/collectors/own.py).
_SAMPLER = "sampler"
# Share of rotations below which a coincidence is called no chance, over all sources together.
_CHANCE = 0.05


@dataclass(frozen=True, slots=True)
class SourceCost:
    """Cost of the reads of one source."""

    source: str
    reads: int
    mean_ns: float
    """Mean duration of a read by the clock."""
    longest_ns: int
    cpu_ns: float | None
    """CPU time a read of its collector, its parsing included; None where nobody counted it."""
    losses: ReadLosses | None
    """None where no trial with windows was recorded."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a recording."""

    length_ns: int
    cpu_ns: int | None
    """CPU time of the sampler and its programs; None where an older version recorded.

    Neither that of the recorder, which stores what the sampler read, nor that of programs that
    answer it is part of it.
    """
    memory_octets: int | None
    sources: tuple[SourceCost, ...]


def add_price(store: Store, found: RecordingSummary) -> str:
    """Store the price of a recording that has ended as marks at its end; return its summary."""
    price = sentences(cost_of(store, found))
    for sentence in price:
        recordings.mark(store, found.id, Mark(found.end_ns, MarkKind.PRICE, sentence))
    return price[0]


def cost_of(store: Store, found: RecordingSummary) -> Cost:
    """Return what a recording cost. Raises StoreError."""
    times = read_times(store, found.id)
    own = _last_values(store, found.id)
    trials = list(_trials(store, found)) if found.run_id is not None else []
    losses = losses_in_reads(trials, times) if trials else {}
    sources = tuple(
        SourceCost(
            source, len(took), float(took.mean()), int(took.max()),
            _cpu_a_read(own, source.partition(" ")[0]), losses.get(source),
        )
        for source, (_, took) in times.items()
    )  # fmt: skip
    return Cost(
        max(0, found.end_ns - found.begin_ns), own.get(("sampler_cpu_seconds", "")),
        own.get(("sampler_memory_bytes", "")), sources,
    )  # fmt: skip


def _trials(store: Store, found: RecordingSummary) -> Iterator[LostWindows]:
    """Yield where each trial of the run lost frames, of those within the recording."""
    for point in read_run(store, str(found.run_id), series=True).points:
        for stored in point.trials:
            seen = stored.trial.observation
            if not found.begin_ns <= seen.began_ns <= found.end_ns:
                continue
            series = {each.name: each for each in stored.packed}
            if OFFERED in series and RECEIVED in series:
                at_ns, offered = moments_and_values(series[OFFERED])
                _, received = moments_and_values(series[RECEIVED])
                if len(at_ns) > 1:
                    yield LostWindows(
                        seen.began_ns + int(at_ns[0]), int(at_ns[1] - at_ns[0]),
                        offered > received, seen.began_error_ns,
                    )  # fmt: skip


def _last_values(store: Store, recording_id: str) -> dict[tuple[str, str], int]:
    """Return the sampler's last values of itself, by key and first label."""
    series = recordings.series_of(store, recording_id)
    found: dict[tuple[str, str], int] = {}
    for reads in recordings.reads_of(store, recording_id, _SAMPLER):
        for number, value in zip(reads.series.tolist(), reads.values[-1].tolist(), strict=True):
            if value != NO_VALUE:
                each = series[number]
                found[each.key, each.labels[0][1] if each.labels else ""] = value
    return found


def _cpu_a_read(own: Mapping[tuple[str, str], int], collector: str) -> float | None:
    reads = own.get(("collector_reads", collector), 0)
    return own["collector_cpu_seconds", collector] / reads if reads else None


def sentences(found: Cost) -> list[str]:
    """Return the price in sentences: of the whole recording first, then of each source."""
    tested = sum(each.losses is not None and each.losses.reads > 0 for each in found.sources)
    return [
        _summary(found), *(_of_source(each, tested) for each in dearest_first(found.sources)),
    ]  # fmt: skip


def _summary(found: Cost) -> str:
    """Return the price of the whole recording."""
    length_s = found.length_ns / 1e9
    if found.cpu_ns is None or not found.length_ns:
        return f"{length_s:.1f} s recorded; the sampler's CPU time is not known"
    share = found.cpu_ns / found.length_ns
    memory = f", {found.memory_octets / (1 << 20):.0f} MiB" if found.memory_octets else ""
    return (
        f"the sampler took {share:.2%} of a CPU ({found.cpu_ns / 1e9:.2f} s in {length_s:.1f} s)"
        f"{memory}; not counted: the recorder that stores, and programs that answer"
    )


def _of_source(found: SourceCost, tested: int) -> str:
    cpu = "" if found.cpu_ns is None else f", {milliseconds(found.cpu_ns)} of CPU time each"
    longest = milliseconds(found.longest_ns)
    text = f"{found.source}: {counted(found.reads, 'read')}{cpu}, longest {longest}"
    return f"{text}; {_losses(found.source, found.losses, tested)}" if found.losses else text


def _losses(source: str, found: ReadLosses, tested: int) -> str:
    """Return how many loss bursts fall into the reads of a source, and how many by chance."""
    if not found.bursts:
        return "no trial lost a frame"
    if not found.reads:
        return "no read while frames flowed"
    verb = "falls" if found.inside == 1 else "fall"
    judged = " (more than by chance)" if is_blamed(found, tested) else ""
    return (
        f"{found.inside} of {counted(found.bursts, 'loss burst')} {verb} into {source}, "
        f"{found.expected:.1f} expected{judged}"
    )


def is_blamed(found: ReadLosses, tested: int) -> bool:
    """Return whether more losses fall into the reads of a source than chance explains.

    tested: number of sources; with each of them, one more may coincide by chance.
    """
    return found.inside > found.expected and found.chance < _CHANCE / max(1, tested)


def dearest_first(found: Iterable[SourceCost]) -> list[SourceCost]:
    """Return the sources in the order of the time that their reads took."""
    return sorted(found, key=lambda each: -each.mean_ns * each.reads)


def milliseconds(ns: float) -> str:
    """Return ns in ms, e.g. "0.61 ms"."""
    return f"{ns / 1e6:.2f} ms"
