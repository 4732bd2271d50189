# SPDX-License-Identifier: Apache-2.0
"""Write a trial of a run's JSON document (schemas/result.schema.json, "trial").

Frames: intended = offered + unsent; offered = accepted + refused by the SUT's first ring.
"""

from __future__ import annotations

from collections.abc import Iterable

from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Source
from wirespeed.model.result.observation import DirectionCount, Latency
from wirespeed.model.result.trial import Gated, LeftOut, Trial
from wirespeed.report.json import trial_types as types
from wirespeed.store.codec import encode
from wirespeed.store.records import StoredTrial


def trial_document(stored: StoredTrial) -> types.Trial:
    """Return its counts, its verdict, and its counts over clean time."""
    trial, observation = stored.trial, stored.trial.observation
    return {
        "ended_at": stored.ended_at,
        "stage": trial.stage,
        "intended_load_fps": trial.intended_load_fps,
        "offered_fps": trial.offered_fps,
        "forwarding_fps": trial.forwarding_fps,
        "duration_s": trial.duration_s,
        "overhead_s": observation.overhead_s,
        "offered": trial.offered,
        "accepted": observation.total("accepted"),
        "refused": observation.total("refused"),
        "unsent": observation.total("unsent"),
        "received": trial.received,
        "handled": observation.handled,
        "lost": trial.lost,
        "loss_ratio": trial.loss_ratio,
        "duplicated": observation.total("duplicated"),
        "reordered": observation.total("reordered"),
        "foreign": observation.total("foreign"),
        "misdirected": observation.total("misdirected"),
        "corrupted": observation.total("corrupted"),
        "quiet": trial.quiet,
        "disturbed": trial.disturbed,
        "fault": trial.fault,
        "gated": None if trial.gated is None else _gated(trial.gated),
        "limited_by": observation.limited_by,
        "drops": encode(list(observation.drops)),
        "latency": None if observation.latency is None else latency_us(observation.latency),
        **_evidence(trial),
    }


def _gated(gated: Gated) -> types.Gated:
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


def left_out(reasons: Iterable[LeftOut]) -> list[types.LeftOut]:
    return [{"why": out.why, "share": out.share} for out in reasons]


def _evidence(trial: Trial) -> types.TrialEvidence:
    """Return the evidence behind the verdict on the trial."""
    observation, placement = trial.observation, trial.observation.placement
    return {
        "disturbances": _by_kind(observation.evidence.disturbances),
        "unseen": list(observation.evidence.unseen),
        "clock_error_ns": observation.evidence.clock_error_ns,
        "steal_ns": observation.steal_ns,
        "placement": None
        if placement is None
        else {"before": encode(placement[0]), "after": encode(placement[1])},
        "ring_frames": observation.ring_frames,
        "path_frames": observation.path_frames,
        "threads": encode(list(observation.threads)),
        "directions": [_direction(direction) for direction in observation.directions],
        "workers": encode(list(observation.workers)),
        "events": encode(list(observation.events)),
        "queues": encode(list(observation.queues)),
        "competitors": encode(list(observation.competitors)),
        "interrupts": encode(list(observation.interrupts)),
        "changes": encode(list(observation.changes)),
        "ports": encode(list(observation.ports)),
        "churn": None if observation.churn is None else encode(observation.churn),
        "sut_cpu": None if observation.sut_cpu is None else encode(observation.sut_cpu),
    }


def _by_kind(disturbances: Iterable[Disturbance]) -> list[types.Disturbances]:
    """Return number and length of noise events by role, CPU, kind and source."""
    groups: dict[tuple[str, int, DisturbanceKind, Source], list[Disturbance]] = {}
    for d in disturbances:
        groups.setdefault((d.role, d.cpu, d.kind, d.source), []).append(d)
    return [
        {
            "role": role, "cpu": cpu, "kind": kind, "source": source,
            "count": sum(d.count for d in same), "total_ns": sum(d.length_ns for d in same),
            "longest_ns": max(d.length_ns for d in same),
        }
        for (role, cpu, kind, source), same in groups.items()
    ]  # fmt: skip


def _direction(count: DirectionCount) -> types.Direction:
    encoded: types.Direction = encode(count)
    return {**encoded, "refused": count.refused}


def latency_us(latency: Latency) -> types.Latency:
    """Return latency in µs, CSIT's names first."""
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
