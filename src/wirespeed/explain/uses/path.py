# SPDX-License-Identifier: Apache-2.0
"""Report how frames use links, memory and queues on their path."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from wirespeed.explain.interface import Measured
from wirespeed.explain.stages import stage
from wirespeed.model.result.evidence import DisturbanceKind
from wirespeed.model.result.explanation import EvidenceFigure, Resource, ResourceState, ResourceUse
from wirespeed.model.result.trial import Trial
from wirespeed.model.words import mpps, percent

# Share below the mean at which a thread or worker counts as uneven.
UNEVEN = 0.1

_US = "\N{MICRO SIGN}s"


def link(point: Measured, number: int, trial: Trial) -> ResourceUse:
    """Report the use of the line rate; virtual ports have a speed only if a study sets one."""
    frames = point.frames
    if frames is None or (frames.nominal_link and not frames.traffic.link_bound):
        sentence = "The generator's ports are virtual and not bound to a speed."
        return ResourceUse(Resource.LINK, ResourceState.ABSENT, sentence)
    used = trial.offered_fps / frames.line_rate_fps
    figures = (
        EvidenceFigure("line rate", frames.line_rate_fps, "frames/s", "traffic.link_bps"),
        EvidenceFigure("offered of the line rate", used, "ratio", f"trial {number}"),
    )
    sentence = f"{percent(used, 0)} of the line rate ({mpps(frames.line_rate_fps)} Mpps) offered."
    return ResourceUse(Resource.LINK, ResourceState.HAS_ROOM, sentence, figures)


def copies(point: Measured, _number: int, _trial: Trial) -> ResourceUse:
    """Report the time per octet, from a linear fit over the run's points with other frame sizes."""
    frames, sizes = point.frames, dict(point.other_sizes)
    if frames is None or len(sizes) < 2:
        sentence = (
            "The cost of copies needs points of other frame sizes, which this run lacks: "
            "--set vary.traffic.frame=[64,512,1518]."
        )
        return ResourceUse(Resource.COPIES, ResourceState.NOT_MEASURED, sentence)
    octets = np.array(list(sizes))
    cost_ns = 1e9 / np.array(list(sizes.values()))
    slope_ns, base_ns = (float(each) for each in np.polyfit(octets, cost_ns, 1))
    copied_ns = max(0.0, slope_ns * frames.mean_wire_bytes)
    part = copied_ns / (base_ns + copied_ns) if base_ns > 0 else 1.0
    source = f"straight line through {len(sizes)} frame sizes of this run"
    figures = (
        EvidenceFigure("time of an octet", slope_ns, "ns", source),
        EvidenceFigure("share of a frame's time", part, "ratio", source),
    )
    sentence = f"An octet costs {slope_ns:.2g} ns, {percent(part, 0)} of a frame's time ({source})."
    return ResourceUse(Resource.COPIES, ResourceState.MEASURED, sentence, figures)


def queues(_point: Measured, number: int, trial: Trial) -> ResourceUse:
    """Compare the time that the smallest queue buffers with the longest pause of the SUT."""
    seen, source = trial.observation, f"trial {number}"
    held = seen.shallowest_frames
    if not held or not trial.offered_fps:
        sentence = "How many frames its queues hold is not known."
        return ResourceUse(Resource.QUEUES, ResourceState.NOT_MEASURED, sentence)
    held_us = 1e6 * held / trial.offered_fps
    pauses = [
        d.length_ns / 1e3
        for d in seen.evidence.disturbances
        if d.role == "sut" and d.kind is DisturbanceKind.STOPPED
    ]
    figures = [
        EvidenceFigure("frames that the shallowest stage holds", held, "frames", source),
        EvidenceFigure(
            "traffic that it holds", held_us, "\N{MICRO SIGN}s", f"{source}, frames / load"
        ),
    ]
    longest = "no pause of the SUT was seen"
    if pauses:
        figures.append(EvidenceFigure("longest pause of the SUT", max(pauses), _US, source))
        longest = f"the SUT's longest pause was {max(pauses):.0f} \N{MICRO SIGN}s"
    sentence = f"The smallest queue buffers {held_us:.0f} \N{MICRO SIGN}s of that load; {longest}."
    room = ResourceState.DISTURBS if pauses and max(pauses) > held_us else ResourceState.HAS_ROOM
    return ResourceUse(Resource.QUEUES, room, sentence, tuple(figures))


def balance(point: Measured, number: int, trial: Trial) -> ResourceUse:
    """Report how evenly the switch's threads, or a function's workers, share the frames."""
    shares, (queued, of_queues) = _shares(point, trial), _queues(trial, number)
    if len(shares) < 2:
        sentence = f"One thread has all the frames. {queued}"
        state = ResourceState.MEASURED if of_queues else ResourceState.ABSENT
        return ResourceUse(Resource.BALANCE, state, sentence, of_queues)
    mean = sum(shares.values()) / len(shares)
    name, least = min(shares.items(), key=lambda pair: pair[1])
    busiest, most = max(shares.items(), key=lambda pair: pair[1])
    figures = (
        tuple(
            EvidenceFigure(f"work of {each}", share / mean, "x", f"trial {number}, over the mean")
            for each, share in shares.items()
        )
        + of_queues
    )
    if mean == 0 or 1 - least / mean <= UNEVEN:
        sentence = f"{len(shares)} share the work evenly. {queued}"
        return ResourceUse(Resource.BALANCE, ResourceState.HAS_ROOM, sentence, figures)
    sentence = (
        f"{busiest} does {percent(most / mean - 1, 0)} more than the mean, {name} "
        f"{percent(1 - least / mean, 0)} less. {queued}"
    )
    return ResourceUse(Resource.BALANCE, ResourceState.MEASURED, sentence, figures)


def _queues(trial: Trial, number: int) -> tuple[str, tuple[EvidenceFigure, ...]]:
    """Return the frames of each queue of multi-queue ports, as a sentence and as evidence."""
    frames: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for each in trial.observation.queues:
        frames[each.port][each.queue] = each.frames
    if not frames:
        return "No port has several queues.", ()
    told = [
        f"{port} {' and '.join(f'{n:,}' for _, n in sorted(of_port.items()))}"
        for port, of_port in frames.items()
    ]
    figures = tuple(
        EvidenceFigure(f"frames in queue {queue} of {port}", n, "frames", f"trial {number}")
        for port, of_port in frames.items()
        for queue, n in sorted(of_port.items())
    )
    return f"Frames by queue, from queue 0: {'; '.join(told)}.", figures


def _shares(point: Measured, trial: Trial) -> dict[str, float]:
    workers: Counter[str] = Counter()
    for worker in trial.observation.workers:
        workers[f"{worker.hop} worker {worker.number}"] += worker.frames
    if workers:
        return dict(workers)
    threads = stage(point, trial, Resource.SWITCH).threads
    return {t.name: t.busy_share for t in threads if t.busy_share is not None}
