# SPDX-License-Identifier: Apache-2.0
"""How is a trial written into the store, and how is one read that an older version wrote?

What was counted and sampled over time (windows, rows of latency, contention samples) is not part of
it: the caller hands it over as series. Disturbances are many: they are kept as pairs of begin and
length, by what they have in common.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from wirespeed.model.evidence import Disturbance, DisturbanceKind, Source
from wirespeed.model.trial import Trial
from wirespeed.store.codec import decode, encode


def encode_trial(trial: Trial) -> dict[str, Any]:
    """The trial as JSON types, without what its series hold."""
    disturbances = trial.seen.evidence.disturbances
    evidence = replace(trial.seen.evidence, disturbances=(), contention=())
    seen = replace(trial.seen, evidence=evidence, windows=None, latency_rows=None)
    encoded: dict[str, Any] = encode(replace(trial, seen=seen))
    encoded["seen"]["evidence"]["disturbances"] = _grouped(disturbances)
    return encoded


def decode_trial(data: dict[str, Any]) -> Trial:
    """A trial of this schema or an older one."""
    current = _upgraded(data) if "valid" in data else data
    seen = current["seen"]
    groups = seen.get("evidence", {}).get("disturbances", [])
    trial = decode(Trial, {**current, "seen": {**seen, "evidence": _without(seen)}})
    evidence = replace(trial.seen.evidence, disturbances=_listed(groups))
    return replace(trial, seen=replace(trial.seen, evidence=evidence))


def _without(seen: dict[str, Any]) -> dict[str, Any]:
    return {**seen.get("evidence", {}), "disturbances": []}


def _grouped(disturbances: tuple[Disturbance, ...]) -> list[dict[str, Any]]:
    groups: dict[tuple[int, str, str, str], list[tuple[int, int]]] = {}
    for d in disturbances:
        same = (d.cpu, d.role, str(d.kind), str(d.source))
        groups.setdefault(same, []).append((d.begin_ns, d.length_ns))
    return [
        {"cpu": cpu, "role": role, "kind": kind, "source": source, "begin_and_length_ns": pairs}
        for (cpu, role, kind, source), pairs in groups.items()
    ]


def _listed(groups: list[dict[str, Any]]) -> tuple[Disturbance, ...]:
    """By the time they began."""
    found = [
        Disturbance(
            group["cpu"], begin_ns, length_ns,
            DisturbanceKind(group["kind"]), Source(group["source"]), group["role"],
        )
        for group in groups
        for begin_ns, length_ns in group["begin_and_length_ns"]
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda disturbance: disturbance.begin_ns))


def _upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """A trial of schema 0001 counted whole or not at all: a valid one was quiet.

    It timed each thread's longest pause, but not when: there is nothing to gate it by.
    """
    seen = data["seen"]
    threads = [
        {
            "name": thread["name"],
            "role": thread["role"],
            "cpu": thread.get("cpu", -1),
            "involuntary_switches": thread["involuntary_switches"],
            "runqueue_wait_ns": thread["runqueue_wait_ns"],
        }
        for thread in seen["threads"]
    ]
    return {
        "seen": {
            **seen, "threads": threads, "placement": seen.get("proximity"), "path_frames": 0,
        },
        "stage": data["stage"],
        "quiet": data["valid"],
        "disturbed": data["invalid_reason"],
    }  # fmt: skip
