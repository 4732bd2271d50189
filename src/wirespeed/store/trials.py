# SPDX-License-Identifier: Apache-2.0
"""Encode a trial, and decode it from records of any version.

Counts and samples over time (windows, rows of latency, contention samples) are excluded: the store
has the trial's series in a table of their own. The many disturbances are stored as pairs of begin
and length, grouped by their common fields.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from wirespeed.model.result.evidence import Disturbance, DisturbanceKind, Source
from wirespeed.model.result.trial import Trial
from wirespeed.store.codec import decode, encode


def encode_trial(trial: Trial) -> dict[str, Any]:
    """Return the trial as JSON types, without its series and their sources."""
    disturbances = trial.observation.evidence.disturbances
    evidence = replace(trial.observation.evidence, disturbances=(), contention=())
    observation = replace(trial.observation, evidence=evidence, windows=None, latency_rows=None)
    encoded: dict[str, Any] = encode(replace(trial, observation=observation, series=()))
    encoded["observation"]["evidence"]["disturbances"] = _grouped(disturbances)
    return encoded


def decode_trial(data: dict[str, Any]) -> Trial:
    """Return a trial of this schema or an older one."""
    current = _with_accepted(_upgraded(_renamed(data)))
    seen = current["observation"]
    groups = seen.get("evidence", {}).get("disturbances", [])
    trial = decode(Trial, {**current, "observation": {**seen, "evidence": _without(seen)}})
    evidence = replace(trial.observation.evidence, disturbances=_listed(groups))
    return replace(trial, observation=replace(trial.observation, evidence=evidence))


def _renamed(data: dict[str, Any]) -> dict[str, Any]:
    """Rename `seen` to `observation`."""
    return {("observation" if key == "seen" else key): value for key, value in data.items()}


def _with_accepted(data: dict[str, Any]) -> dict[str, Any]:
    """Rename "sent" to "accepted": until schema 0003, the frames that the first ring accepted."""
    seen = data["observation"]
    directions = [
        {"accepted" if key == "sent" else key: value for key, value in direction.items()}
        for direction in seen["directions"]
    ]
    return {**data, "observation": {**seen, "directions": directions}}


def _without(seen: dict[str, Any]) -> dict[str, Any]:
    return {**seen.get("evidence", {}), "disturbances": []}


def _grouped(disturbances: tuple[Disturbance, ...]) -> list[dict[str, Any]]:
    groups: dict[tuple[int, str, str, str, int], list[tuple[int, int]]] = {}
    for d in disturbances:
        same = (d.cpu, d.role, str(d.kind), str(d.source), d.count)
        groups.setdefault(same, []).append((d.begin_ns, d.length_ns))
    return [
        {
            "cpu": cpu, "role": role, "kind": kind, "source": source, "count": count,
            "begin_and_length_ns": pairs,
        }
        for (cpu, role, kind, source, count), pairs in groups.items()
    ]  # fmt: skip


def _listed(groups: list[dict[str, Any]]) -> tuple[Disturbance, ...]:
    """Return the disturbances of all groups, in the order of their begin."""
    found = [
        Disturbance(
            group["cpu"], begin_ns, length_ns,
            DisturbanceKind(group["kind"]), Source(group["source"]), group["role"],
            group.get("count", 1),
        )
        for group in groups
        for begin_ns, length_ns in group["begin_and_length_ns"]
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda disturbance: disturbance.begin_ns))


def _upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """Convert a trial of schema 0001: a valid one was quiet, others are noisy.

    It has no evidence with time stamps, so nothing of a noisy one counts.
    """
    if "valid" not in data:
        return data
    observation = data["observation"]
    threads = [
        {
            "name": thread["name"],
            "role": thread["role"],
            "cpu": thread.get("cpu", -1),
            "involuntary_switches": thread["involuntary_switches"],
            "runqueue_wait_ns": thread["runqueue_wait_ns"],
        }
        for thread in observation["threads"]
    ]
    return {
        "observation": {
            **observation, "threads": threads,
            "placement": observation.get("proximity"), "path_frames": 0,
        },
        "stage": data["stage"],
        "quiet": data["valid"],
        "disturbed": data["invalid_reason"],
    }  # fmt: skip
