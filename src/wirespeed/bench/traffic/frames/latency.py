# SPDX-License-Identifier: Apache-2.0
"""Merge the sinks' histograms into one latency over all directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hdrh.histogram import HdrHistogram

from wirespeed.bench.interface import BenchError
from wirespeed.model.input.bounded import load_json
from wirespeed.model.result.observation import Latency
from wirespeed.model.result.quantile import nearest_rank

_FORMAT = "wirespeed-histogram-1"


@dataclass(frozen=True, slots=True)
class SinkLatency:
    """A sink's histogram file (dataplane/pktlib/histogram.h) and its jitter (RFC 3550), in ns."""

    histogram: str
    jitter_ns: float


def merged(sinks: Sequence[SinkLatency]) -> Latency | None:
    """Return the latency over all sinks; None when no frame carried a time stamp.

    Jitter is averaged, weighted by the number of frames.
    """
    files = [load_json(sink.histogram) for sink in sinks]
    for file in files:
        if file["format"] != _FORMAT:
            raise BenchError(f"wsdp writes histograms as {file['format']}, not as {_FORMAT}")
    count = sum(file["count"] for file in files)
    if count == 0:
        return None
    whole = HdrHistogram(1, files[0]["highest_trackable"], files[0]["significant_digits"])
    for file in files:
        for value, times in file["counts"]:
            whole.record_value(value, times)
    jitter = sum(s.jitter_ns * f["count"] for s, f in zip(sinks, files, strict=True)) / count
    # The package rounds the rank; this share selects the nearest rank.
    shares = (100 * nearest_rank(per_mille, count) / count for per_mille in (500, 900, 990, 999))
    p50, p90, p99, p999 = (float(whole.get_value_at_percentile(share)) for share in shares)
    return Latency(
        count=count,
        min_ns=min(file["min"] for file in files if file["count"]),
        avg_ns=sum(file["sum"] for file in files) / count,
        p50_ns=p50,
        p90_ns=p90,
        p99_ns=p99,
        p999_ns=p999,
        max_ns=max(file["max"] for file in files if file["count"]),
        jitter_ns=jitter,
        hdrh=whole.encode().decode(),
    )
