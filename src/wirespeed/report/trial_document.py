# SPDX-License-Identifier: Apache-2.0
"""What is a trial in a run's JSON document (schemas/result.schema.json, "trial")?

offered = accepted + refused: what the generator handed to the SUT's first ring, what that took and
what it did not. unsent frames were never offered.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wirespeed.model.evidence import Disturbance
from wirespeed.model.trial import DirectionCount, Gated, Latency, LeftOut, Trial
from wirespeed.store.codec import encode
from wirespeed.store.records import StoredTrial


def trial_document(stored: StoredTrial) -> dict[str, Any]:
    """Its counts, how it was judged, and what it shows where disturbed time is left out."""
    trial, seen = stored.trial, stored.trial.seen
    return {
        "ended_at": stored.ended_at,
        "stage": str(trial.stage),
        "intended_load_fps": trial.intended_load_fps,
        "offered_fps": trial.offered_fps,
        "forwarding_fps": trial.forwarding_fps,
        "duration_s": trial.duration_s,
        "overhead_s": seen.overhead_s,
        "offered": trial.offered,
        "accepted": seen.total("sent"),
        "refused": trial.offered - seen.total("sent"),
        "unsent": seen.total("unsent"),
        "received": trial.received,
        "handled": seen.handled,
        "lost": trial.lost,
        "loss_ratio": trial.loss_ratio,
        "duplicated": seen.total("duplicated"),
        "reordered": seen.total("reordered"),
        "foreign": seen.total("foreign"),
        "misdirected": seen.total("misdirected"),
        "corrupted": seen.total("corrupted"),
        "quiet": trial.quiet,
        "disturbed": trial.disturbed,
        "fault": trial.fault,
        "gated": None if trial.gated is None else _gated(trial.gated),
        "limited_by": seen.limited_by,
        "drops": encode(list(seen.drops)),
        "latency": None if seen.latency is None else latency_us(seen.latency),
        **_evidence(trial),
    }


def _gated(gated: Gated) -> dict[str, Any]:
    offered = sum(run.offered for run in gated.runs)
    lost = sum(run.lost for run in gated.runs)
    growth = sum(run.growth_frames for run in gated.runs)
    return {
        "window_ns": gated.window_ns,
        "windows": gated.windows,
        "clean_windows": gated.clean_windows,
        "clean_share": gated.clean_share,
        "runs": len(gated.runs),
        "offered": offered,
        "lost": lost,
        "loss_ratio": lost / offered if offered else None,
        "growth_ratio": growth / offered if offered else None,
        "steady_windows": gated.steady_windows,
        "steady_offered": gated.steady_offered,
        "steady_lost": gated.steady_lost,
        "receive_fps": gated.receive_fps,
        "left_out": left_out(gated.left_out),
        "latency": None if gated.latency is None else latency_us(gated.latency),
    }


def left_out(reasons: Iterable[LeftOut]) -> list[dict[str, Any]]:
    return [{"why": out.why, "share": out.share} for out in reasons]


def _evidence(trial: Trial) -> dict[str, Any]:
    """What the verdict on the trial rests on."""
    seen, placement = trial.seen, trial.seen.placement
    return {
        "disturbances": _by_kind(seen.evidence.disturbances),
        "unseen": list(seen.evidence.unseen),
        "steal_ns": seen.steal_ns,
        "placement": None
        if placement is None
        else {"before": encode(placement[0]), "after": encode(placement[1])},
        "ring_frames": seen.ring_frames,
        "path_frames": seen.path_frames,
        "threads": encode(list(seen.threads)),
        "directions": [_direction(direction) for direction in seen.directions],
        "workers": encode(list(seen.workers)),
    }


def _by_kind(disturbances: Iterable[Disturbance]) -> list[dict[str, Any]]:
    """How often and how long, by role, CPU, kind and source."""
    groups: dict[tuple[str, int, str, str], list[int]] = {}
    for d in disturbances:
        groups.setdefault((d.role, d.cpu, str(d.kind), str(d.source)), []).append(d.length_ns)
    return [
        {
            "role": role, "cpu": cpu, "kind": kind, "source": source,
            "count": len(lengths), "total_ns": sum(lengths), "longest_ns": max(lengths),
        }
        for (role, cpu, kind, source), lengths in groups.items()
    ]  # fmt: skip


def _direction(count: DirectionCount) -> dict[str, Any]:
    """In the words of the trial: what the first ring took was accepted."""
    encoded: dict[str, Any] = encode(count)
    accepted = encoded.pop("sent")
    return {**encoded, "accepted": accepted, "refused": count.offered - count.sent}


def latency_us(latency: Latency) -> dict[str, Any]:
    """Latency in microseconds, CSIT's names first."""
    return {
        "min": latency.min_ns / 1e3,
        "avg": latency.avg_ns / 1e3,
        "max": latency.max_ns / 1e3,
        "p50": latency.p50_ns / 1e3,
        "p90": latency.p90_ns / 1e3,
        "p99": latency.p99_ns / 1e3,
        "p99_9": latency.p999_ns / 1e3,
        "pdv": latency.pdv_ns / 1e3,
        "jitter": latency.jitter_ns / 1e3,
        "count": latency.count,
        "hdrh": latency.hdrh,
        "unit": "us",
    }
